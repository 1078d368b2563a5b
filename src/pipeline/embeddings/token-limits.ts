/** OpenAI's limits on the tokens of embeddings requests, told before anything is sent. */
import { refuse } from '../../errors.ts'
import type { Input } from '../../vector-cache/vector-name.ts'
import type { InputCounter } from './count-inputs.ts'

const MOST_INPUT_TOKENS = 8_192
const MOST_REQUEST_TOKENS = 300_000

/** By their own name, or with their vendor before it. Other vendors' limits differ, and so do their tokens: theirs to tell. */
const OPENAI_MODELS = /^(?:openai\/)?text-embedding-/

/**
 * Throws OpenAI's 400 where a model of its own would get an input that is too long, or too many tokens in all. `inputs` are those
 * to be sent; `knownTokens` those of all others in the request.
 */
export async function checkTokenLimits(
  model: string,
  inputs: readonly Input[],
  knownTokens: number,
  counter: InputCounter,
): Promise<void> {
  if (!OPENAI_MODELS.test(model)) return
  const most = inputs.map(counter.most)
  const counts = await counter.count(inputs.filter((_, at) => (most[at] ?? 0) > MOST_INPUT_TOKENS))
  const tooLong = counts.find(tokens => tokens > MOST_INPUT_TOKENS)
  if (tooLong !== undefined) throw refuse('inputTooLong', { tokens: tooLong, most: MOST_INPUT_TOKENS })
  if (sum(most) + knownTokens <= MOST_REQUEST_TOKENS) return
  const total = sum(await counter.count(inputs)) + knownTokens
  if (total > MOST_REQUEST_TOKENS) throw refuse('inputsTooLong', { tokens: total, most: MOST_REQUEST_TOKENS })
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}
