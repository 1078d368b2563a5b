/** Chat requests and what their answers say, plain or streamed. */
import type { Answer } from './client.ts'

export function question(content: string, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content }], ...fields }
}

/** The text of a plain or a streamed answer's first choice. */
export function textOf(answer: Pick<Answer, 'json' | 'text'>): string {
  if (answer.json) return answer.json.choices[0].message.content
  return answer.text
    .split('\n\n')
    .filter(event => event.startsWith('data: {'))
    .map(event => JSON.parse(event.slice(6)).choices[0]?.delta?.content ?? '')
    .join('')
}
