/** Every method of Gemini's API, with a model that has it. The paths begin with /v1, as all paths of the routing tables do. */
import { GEMINI_METHODS } from '../../src/http/gemini-api.ts'

export const GEMINI_PATHS = GEMINI_METHODS.map(method => {
  const model = /embed/i.test(method) ? 'text-embedding-3-large' : 'gpt-4o-mini'
  return `/v1/v1beta/models/${model}:${method}`
})

export function geminiContent(text: string) {
  return { role: 'user', parts: [{ text }] }
}

/** Returns a request's body. */
export function geminiBodyOf(path: string, text = 'Hello.'): Record<string, unknown> {
  if (path.endsWith(':embedContent')) return { content: geminiContent(text) }
  if (path.endsWith(':batchEmbedContents')) return { requests: [{ content: geminiContent(text) }] }
  return { contents: [geminiContent(text)] }
}
