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
  let most = knownTokens
  for (const input of inputs) {
    most += counter.most(input)
    if (counter.most(input) <= MOST_INPUT_TOKENS) continue
    const tokens = await counter.count(input)
    if (tokens > MOST_INPUT_TOKENS) throw refuse('inputTooLong', { tokens, most: MOST_INPUT_TOKENS })
  }
  if (most <= MOST_REQUEST_TOKENS) return
  let total = knownTokens
  for (const input of inputs) total += await counter.count(input)
  if (total > MOST_REQUEST_TOKENS) throw refuse('inputsTooLong', { tokens: total, most: MOST_REQUEST_TOKENS })
}
