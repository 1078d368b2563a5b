/** Counts the tokens of single inputs in a worker: only when needed, and at most once each. */

import type { EmbeddingInput } from '../../../cache/vectors/pack-vector.ts'
import { createError } from '../../../errors/errors.ts'
import type { Yielder } from '../../../event-loop/work-scheduler.ts'
import { countTextsInWorker } from '../../../formats/tokens/count-in-worker.ts'
import { estimateTextTokens } from '../../../formats/tokens/estimate-text.ts'

/** More characters than OpenAI's largest request holds. Text beyond them is estimated. */
const EXACT_CHARS = 2_000_000
/** Characters given to the worker at a time. A longer text is estimated from the tokens of its beginning. */
const CHARS_AT_A_TIME = 131_072

export interface InputTokenCounter {
  /** Upper bound on the input's tokens, without counting: no token is shorter than a byte. */
  maxTokensOf(input: EmbeddingInput): number
  /** Tokens of each input, in the same order, in the model's vocabulary. */
  count(inputs: readonly EmbeddingInput[]): Promise<number[]>
}

export function createInputTokenCounter(model: string, owner: number, yieldTurn: Yielder): InputTokenCounter {
  const known = new Map<EmbeddingInput, number>()
  let exactChars = 0
  let counted = 0
  let estimated = 0

  async function countExactly(texts: readonly string[]): Promise<void> {
    const beginnings = texts.map(text => text.slice(0, CHARS_AT_A_TIME))
    const counts = await countTextsInWorker({ texts: beginnings, model }, owner)
    for (const [at, text] of texts.entries()) {
      const beginning = beginnings[at] ?? ''
      const tokens = counts[at] ?? 0
      const estimate = estimateTextTokens(beginning)
      known.set(text, text === beginning ? tokens : Math.ceil((estimateTextTokens(text) * tokens) / estimate))
      exactChars += beginning.length
      counted += tokens
      estimated += estimate
    }
  }

  function estimate(text: string): void {
    known.set(text, Math.ceil(estimateTextTokens(text) * (estimated > 0 ? counted / estimated : 1)))
  }

  return {
    maxTokensOf: input => (typeof input === 'string' ? Buffer.byteLength(input) : input.length),
    async count(inputs) {
      const texts = Array.from(new Set(inputs.filter(input => typeof input === 'string'))).filter(
        text => !known.has(text),
      )
      for (const some of inLots(texts)) {
        await yieldTurn()
        if (exactChars < EXACT_CHARS) await countExactly(some)
        else for (const text of some) estimate(text)
      }
      return inputs.map(input => (typeof input === 'string' ? (known.get(input) ?? 0) : input.length))
    },
  }
}

/** Groups texts into lots of at most `CHARS_AT_A_TIME`; a longer text gets a lot of its own. */
function* inLots(texts: readonly string[]): Generator<string[]> {
  let batch: string[] = []
  let chars = 0
  for (const text of texts) {
    if (batch.length > 0 && chars + text.length > CHARS_AT_A_TIME) {
      yield batch
      batch = []
      chars = 0
    }
    batch.push(text)
    chars += text.length
  }
  if (batch.length > 0) yield batch
}

const MOST_INPUT_TOKENS = 8_192
const MOST_REQUEST_TOKENS = 300_000

/** OpenAI's models, with or without the vendor's prefix. Other vendors have other limits and tokenizers, and check them themselves. */
const OPENAI_MODELS = /^(?:openai\/)?text-embedding-/

/**
 * Throws OpenAI's 400 when one of its models would get an input that is too long, or too many tokens in total. `inputs` are the inputs to
 * be sent; `knownTokens` is the sum over the request's other inputs.
 */
export async function checkInputTokenLimits(
  model: string,
  inputs: readonly EmbeddingInput[],
  knownTokens: number,
  counter: InputTokenCounter,
): Promise<void> {
  if (!OPENAI_MODELS.test(model)) return
  const most = inputs.map(counter.maxTokensOf)
  const counts = await counter.count(inputs.filter((_, at) => (most[at] ?? 0) > MOST_INPUT_TOKENS))
  const tooLong = counts.find(tokens => tokens > MOST_INPUT_TOKENS)
  if (tooLong !== undefined) throw createError('inputTooLong', { tokens: tooLong, most: MOST_INPUT_TOKENS })
  if (sum(most) + knownTokens <= MOST_REQUEST_TOKENS) return
  const total = sum(await counter.count(inputs)) + knownTokens
  if (total > MOST_REQUEST_TOKENS) throw createError('inputsTooLong', { tokens: total, most: MOST_REQUEST_TOKENS })
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}
