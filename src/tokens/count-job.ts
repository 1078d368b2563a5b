/** The worker's job that counts a request's prompt, and a text besides it. */
import type { JobDone } from '../event-loop/off-loop.ts'
import { countPromptTokens, countTextTokens, type Endpoint } from './count-tokens.ts'

export interface ToCount {
  endpoint: Endpoint
  request: Record<string, unknown>
  /** Counted for the same model, besides the prompt. */
  text: string
}

export interface Counted {
  promptTokens: number
  textTokens: number
}

/** With the request as JSON text. */
export type WrittenToCount = Omit<ToCount, 'request'> & { json: string }

export function run({ endpoint, json, text }: WrittenToCount): JobDone<Counted> {
  const request: ToCount['request'] = JSON.parse(json)
  const model = typeof request.model === 'string' ? request.model : undefined
  return { output: { promptTokens: countPromptTokens(request, endpoint), textTokens: countTextTokens(text, model) } }
}
