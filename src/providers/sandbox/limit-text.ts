/** Ends a response's text at a stop sequence, or after a number of tokens. */
import { isOnLoop, Job, offLoop } from '../../event-loop/off-loop.ts'
import { splitIntoTokens, type TokenPiece } from '../../tokens/split-tokens.ts'
import { TEST_KEYS } from './test-keys.ts'

export interface LimitedText {
  text: string
  pieces: TokenPiece[]
  /** Tokens of the text. */
  tokens: number
  finishReason: 'stop' | 'length'
}

export interface TextLimits {
  stops: string[]
  /** Undefined for no limit. */
  maxTokens: number | undefined
  model: string
}

export interface TextsToLimit {
  texts: readonly string[]
  limits: TextLimits
}

const LIMIT = new Job<TextsToLimit, LimitedText[]>(new URL('./limit-texts-job.ts', import.meta.url))

/** Limits each text; a worker does, which alone loads vocabularies. */
export async function limitTextsAside(texts: readonly string[], limits: TextLimits): Promise<LimitedText[]> {
  if (isOnLoop()) return offLoop.run(LIMIT, { texts, limits }, { owner: TEST_KEYS })
  return texts.map(text => limitText(text, limits))
}

export function limitText(whole: string, { stops, maxTokens = Infinity, model }: TextLimits): LimitedText {
  const ends = stops.map(stop => whole.indexOf(stop)).filter(end => end >= 0)
  const all = splitIntoTokens(whole.slice(0, Math.min(whole.length, ...ends)), model)
  const pieces: TokenPiece[] = []
  let tokens = 0
  for (const piece of all) {
    if (tokens + piece.tokens > maxTokens) break
    tokens += piece.tokens
    pieces.push(piece)
  }
  const text = pieces.map(piece => piece.text).join('')
  return { text, pieces, tokens, finishReason: pieces.length < all.length ? 'length' : 'stop' }
}
