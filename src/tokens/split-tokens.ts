/** Converts between texts and tokens. */
import { breakLongRuns } from './break-runs.ts'
import { AS_PLAIN_TEXT, encodingOfModel, flushDecoder, loadEncoding } from './encodings.ts'

export interface TokenPiece {
  text: string
  /** More than one when several tokens make up a character. */
  tokens: number
}

/** Cuts the text at token boundaries that fall between characters. Joined, the pieces are the text (lone surrogates apart). */
export function splitIntoTokens(text: string, model?: string): TokenPiece[] {
  const encoding = loadEncoding(encodingOfModel(model))
  const pieces: TokenPiece[] = []
  for (const run of breakLongRuns(text)) {
    const tokens = encoding.encode(run, AS_PLAIN_TEXT)
    let taken = 0
    let given = 0
    const feed = function* () {
      for (const token of tokens) {
        taken++
        yield token
      }
    }
    for (const piece of encoding.decodeGenerator(feed())) {
      pieces.push({ text: piece, tokens: taken - given })
      given = taken
    }
  }
  return pieces
}

/** The text of these token ids; undefined when one is not in the model's vocabulary. */
export function decodeTokens(tokens: number[], model?: string): string | undefined {
  try {
    return loadEncoding(encodingOfModel(model)).decode(tokens)
  } catch {
    return undefined
  } finally {
    flushDecoder()
  }
}
