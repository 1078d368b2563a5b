/** Counts the tokens of single inputs in a worker. Each input is counted at most once, and only if needed. */

import type { EmbeddingInput } from '../../../cache/vectors/pack-vector.ts'
import { createError } from '../../../errors/errors.ts'
import type { Yielder } from '../../../event-loop/work-scheduler.ts'
import { countTextTokensInWorker } from '../../../formats/tokens/count-in-worker.ts'
import { estimateTextTokens } from '../../../formats/tokens/estimate-text.ts'

/** Characters that are counted exactly, more than OpenAI's largest request has. Further text is estimated. */
const MAX_EXACT_CHARS = 2_000_000
/** Characters per worker job. A longer text is estimated from the tokens of its beginning. */
const CHARS_PER_JOB = 131_072

export interface InputTokenCounter {
  /** Returns an upper bound of the input's tokens without counting: a token has at least one byte. */
  maxTokensOf(input: EmbeddingInput): number
  /** Returns the tokens of each input in the model's vocabulary, in the same order. */
  count(inputs: readonly EmbeddingInput[]): Promise<number[]>
}

export function createInputTokenCounter(model: string, owner: number, yieldTurn: Yielder): InputTokenCounter {
  const known = new Map<EmbeddingInput, number>()
  let exactChars = 0
  let counted = 0
  let estimated = 0

  async function countExactly(texts: readonly string[]): Promise<void> {
    const beginnings = texts.map(text => text.slice(0, CHARS_PER_JOB))
    const counts = await countTextTokensInWorker({ texts: beginnings, model }, owner)
    for (const [index, text] of texts.entries()) {
      const beginning = beginnings[index] ?? ''
      const tokens = counts[index] ?? 0
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
      for (const batch of batchTexts(texts)) {
        await yieldTurn()
        if (exactChars < MAX_EXACT_CHARS) await countExactly(batch)
        else for (const text of batch) estimate(text)
      }
      return inputs.map(input => (typeof input === 'string' ? (known.get(input) ?? 0) : input.length))
    },
  }
}

/** Groups texts into batches of at most `CHARS_PER_JOB` characters. A longer text gets a batch of its own. */
function* batchTexts(texts: readonly string[]): Generator<string[]> {
  let batch: string[] = []
  let chars = 0
  for (const text of texts) {
    if (batch.length > 0 && chars + text.length > CHARS_PER_JOB) {
      yield batch
      batch = []
      chars = 0
    }
    batch.push(text)
    chars += text.length
  }
  if (batch.length > 0) yield batch
}

/**
 * Returns integers in proportion to `counts` that add up to `total`. Counts that add up to it are returned unchanged. Tokens that remain
 * after rounding down go to the largest remainders.
 */
export function distributeTokens(total: number, counts: readonly number[]): number[] {
  const counted = sum(counts)
  if (counted === total) return [...counts]
  const exact = counts.map(count => (counted === 0 ? total / counts.length : (count * total) / counted))
  const shares = exact.map(Math.floor)
  const remaining = total - sum(shares)
  const byRemainder = exact.map((share, index) => ({ index, remainder: share - Math.floor(share) }))
  byRemainder.sort((a, b) => b.remainder - a.remainder)
  for (const { index } of byRemainder.slice(0, remaining)) shares[index] = (shares[index] ?? 0) + 1
  return shares
}

const MAX_INPUT_TOKENS = 8_192
const MAX_REQUEST_TOKENS = 300_000

/** OpenAI's models, with or without the vendor's prefix. Other vendors have other limits, and check them themselves. */
const OPENAI_MODELS = /^(?:openai\/)?text-embedding-/

/**
 * Throws OpenAI's 400 if one of its models would receive an input that is too long, or too many tokens in total. `inputs` are the inputs to
 * send; `knownTokens` is the sum over the request's other inputs.
 */
export async function checkInputTokenLimits(
  model: string,
  inputs: readonly EmbeddingInput[],
  knownTokens: number,
  counter: InputTokenCounter,
): Promise<void> {
  if (!OPENAI_MODELS.test(model)) return
  const bounds = inputs.map(counter.maxTokensOf)
  const counts = await counter.count(inputs.filter((_, index) => (bounds[index] ?? 0) > MAX_INPUT_TOKENS))
  const tooLong = counts.find(tokens => tokens > MAX_INPUT_TOKENS)
  if (tooLong !== undefined) throw createError('inputTooLong', { tokens: tooLong, most: MAX_INPUT_TOKENS })
  if (sum(bounds) + knownTokens <= MAX_REQUEST_TOKENS) return
  const total = sum(await counter.count(inputs)) + knownTokens
  if (total > MAX_REQUEST_TOKENS) throw createError('inputsTooLong', { tokens: total, most: MAX_REQUEST_TOKENS })
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}
