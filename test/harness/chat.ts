/** Builds chat requests and reads the text of plain and streamed responses. */
import type { Answer } from './client.ts'

export function question(content: string, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content }], ...fields }
}

/** Returns the text of the first choice of a plain or streamed response. */
export function textOf(answer: Pick<Answer, 'json' | 'text'>): string {
  if (answer.json) return answer.json.choices[0].message.content
  return answer.text
    .split('\n\n')
    .filter(event => event.startsWith('data: {'))
    .map(event => JSON.parse(event.slice(6)).choices[0]?.delta?.content ?? '')
    .join('')
}
