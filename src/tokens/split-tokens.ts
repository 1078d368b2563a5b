/** Owns going between texts and the tokens they are made of. */
import { breakLongRuns } from './break-runs.ts'
import { encodingOfModel, loadEncoding } from './encodings.ts'

export interface TokenPiece {
  text: string
  /** More than one where a character is spread over several tokens. */
  tokens: number
}

/** The text cut into whole characters' tokens; joined again, the pieces are the text (lone surrogates apart). */
export function splitIntoTokens(text: string, model?: string): TokenPiece[] {
  const encoding = loadEncoding(encodingOfModel(model))
  const decoder = createDecoder()
  const pieces: TokenPiece[] = []
  let waiting = 0
  for (const run of breakLongRuns(text)) {
    for (const token of encoding.encode(run)) {
      waiting++
      const piece = decoder.decode(encoding.bytesOf(token), { stream: true })
      if (piece === '') continue
      pieces.push({ text: piece, tokens: waiting })
      waiting = 0
    }
  }
  return pieces
}

/** The text that token numbers spell, less half a character at its end; undefined where one is not in the model's vocabulary. */
export function decodeTokens(tokens: number[], model?: string): string | undefined {
  const encoding = loadEncoding(encodingOfModel(model))
  const decoder = createDecoder()
  let text = ''
  for (const token of tokens) {
    const bytes = encoding.bytesOf(token)
    if (!bytes) return undefined
    text += decoder.decode(bytes, { stream: true })
  }
  return text
}

/** A byte order mark is a character like any other. */
function createDecoder(): TextDecoder {
  return new TextDecoder('utf-8', { ignoreBOM: true })
}
