/** Tokens of single inputs: counted where it matters, at most once, by a worker. */

import type { YieldTurn } from '../../event-loop/yield.ts'
import { countTextsAside } from '../../tokens/count-aside.ts'
import { estimateTextTokens } from '../../tokens/estimate-text.ts'
import type { Input } from '../../vector-cache/vector-name.ts'

/** More characters than the largest request that OpenAI takes has; what comes after them is estimated. */
const EXACT_CHARS = 2_000_000
/** So much is handed over at a time. A longer text is estimated, by the tokens of its beginning. */
const CHARS_AT_A_TIME = 131_072

export interface InputCounter {
  /** What the input cannot have more of, without counting: no token is shorter than a byte. */
  most(input: Input): number
  /** Tokens of each in the model's vocabulary. */
  count(inputs: readonly Input[]): Promise<number[]>
}

export function createInputCounter(model: string, yieldTurn: YieldTurn): InputCounter {
  const known = new Map<Input, number>()
  let exactChars = 0
  let counted = 0
  let estimated = 0

  async function countExactly(texts: readonly string[]): Promise<void> {
    const beginnings = texts.map(text => text.slice(0, CHARS_AT_A_TIME))
    const counts = await countTextsAside({ texts: beginnings, model })
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
    most: input => (typeof input === 'string' ? Buffer.byteLength(input) : input.length),
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

/** Each but a single long text short enough to be handed over. */
function* inLots(texts: readonly string[]): Generator<string[]> {
  let lot: string[] = []
  let chars = 0
  for (const text of texts) {
    if (lot.length > 0 && chars + text.length > CHARS_AT_A_TIME) {
      yield lot
      lot = []
      chars = 0
    }
    lot.push(text)
    chars += text.length
  }
  if (lot.length > 0) yield lot
}
