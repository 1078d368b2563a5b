/** Tokens of single inputs: counted where it matters, at most once, and with pauses. */

import type { YieldTurn } from '../../event-loop/yield.ts'
import { countTextTokens } from '../../tokens/count-tokens.ts'
import { estimateTextTokens } from '../../tokens/estimate-text.ts'
import type { Input } from '../../vector-cache/vector-name.ts'

/** More characters than the largest request that OpenAI takes has; what comes after them is estimated. */
const EXACT_CHARS = 2_000_000

export interface InputCounter {
  /** What the input cannot have more of, without counting: no token is shorter than a byte. */
  most(input: Input): number
  /** Tokens in the model's vocabulary; reads it at first need. */
  count(input: Input): Promise<number>
}

export function createInputCounter(model: string, yieldTurn: YieldTurn): InputCounter {
  const known = new Map<Input, number>()
  let exactChars = 0
  let counted = 0
  let estimated = 0

  function countText(text: string): number {
    const estimate = estimateTextTokens(text)
    if (exactChars + text.length > EXACT_CHARS) return Math.ceil(estimate * (estimated > 0 ? counted / estimated : 1))
    const tokens = countTextTokens(text, model)
    exactChars += text.length
    counted += tokens
    estimated += estimate
    return tokens
  }

  return {
    most: input => (typeof input === 'string' ? Buffer.byteLength(input) : input.length),
    async count(input) {
      if (typeof input !== 'string') return input.length
      const before = known.get(input)
      if (before !== undefined) return before
      await yieldTurn()
      const tokens = countText(input)
      known.set(input, tokens)
      return tokens
    },
  }
}
