/** The worker's job that counts a request's prompt, and a text besides it. */
import type { JobDone } from '../event-loop/off-loop.ts'
import type { Counted, ToCount } from './count-aside.ts'
import { countPromptTokens, countTextTokens } from './count-tokens.ts'

export function run({ json, ...asked }: Omit<ToCount, 'request'> & { json: string }): JobDone<Counted> {
  return { output: count({ ...asked, request: JSON.parse(json) }) }
}

export function count({ endpoint, request, text }: ToCount): Counted {
  const model = typeof request.model === 'string' ? request.model : undefined
  return { promptTokens: countPromptTokens(request, endpoint), textTokens: countTextTokens(text, model) }
}
