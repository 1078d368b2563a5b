/** Checks OpenAI's token limits for embeddings requests before anything is sent. */
import { refuse } from '../../errors.ts'
import type { Input } from '../../vector-cache/vector-name.ts'
import type { InputCounter } from './count-inputs.ts'

const MOST_INPUT_TOKENS = 8_192
const MOST_REQUEST_TOKENS = 300_000

/** OpenAI's models, with or without the vendor's prefix. Other vendors have other limits and tokenizers, and check them themselves. */
const OPENAI_MODELS = /^(?:openai\/)?text-embedding-/

/**
 * Throws OpenAI's 400 when one of its models would get an input that is too long, or too many tokens in total. `inputs` are the inputs to
 * be sent; `knownTokens` is the sum over the request's other inputs.
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
