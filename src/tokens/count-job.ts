/** The worker's job that counts a request's prompt, and a text besides it. */
import type { JobDone } from '../event-loop/off-loop.ts'
import type { Counted, ToCount } from './count-aside.ts'
import { countPromptTokens, countTextTokens } from './count-tokens.ts'

export function run({ endpoint, request, text }: ToCount): JobDone<Counted> {
  const model = typeof request.model === 'string' ? request.model : undefined
  return { output: { promptTokens: countPromptTokens(request, endpoint), textTokens: countTextTokens(text, model) } }
}
