/** Splits text into pieces of a few words, like those that a model streams. Never splits within a character. */

/** Length of a piece, which is about six tokens. */
const PIECE_CHARS = 24
/** Longer texts are split into longer pieces, so that replaying them stays cheap. */
const MAX_PIECES = 200
/** Factor of the piece length by which a piece may be longer in order to end before a space. */
const WORD_SLACK = 2
/** Characters that are searched for the end of a grapheme. Combining marks and joined emoji can be long. */
const CHARACTER_WINDOW = 64
const SPACE = 32
const LF = 10
const LOW_SURROGATE_FIRST = 0xdc00
const LOW_SURROGATE_LAST = 0xdfff

const characters = new Intl.Segmenter('und', { granularity: 'grapheme' })

/** Returns at most about 200 pieces whose concatenation is the text; none for ''. */
export function chunkText(text: string): string[] {
  const pieceChars = Math.max(PIECE_CHARS, Math.ceil(text.length / MAX_PIECES))
  const pieces: string[] = []
  for (let start = 0; start < text.length; ) {
    const end = findPieceEnd(text, start, pieceChars)
    pieces.push(text.slice(start, end))
    start = end
  }
  return pieces
}

function findPieceEnd(text: string, start: number, pieceChars: number): number {
  const end = start + pieceChars
  if (end + pieceChars / 2 >= text.length) return text.length
  const limit = Math.min(text.length, end + pieceChars * WORD_SLACK)
  for (let at = end; at < limit; at++) {
    // CRLF counts as one character, so a piece never ends between CR and LF.
    const code = text.charCodeAt(at)
    if (code === SPACE || (code === LF && text[at - 1] !== '\r')) return at
  }
  return findCharacterEnd(text, start, pieceChars)
}

function findCharacterEnd(text: string, start: number, pieceChars: number): number {
  const window = text.slice(start, start + pieceChars + CHARACTER_WINDOW)
  const at = characters.segment(window).containing(pieceChars)
  if (at === undefined) return text.length
  return start + (at.index > 0 ? at.index : at.segment.length)
}

/** Groups tokens into at most about 200 groups. Tokens are not split, because each has its own log probability. */
export function groupTokens(tokens: readonly string[]): { start: number; end: number }[] {
  const size = Math.ceil(tokens.length / MAX_PIECES)
  const groups: { start: number; end: number }[] = []
  for (let start = 0; start < tokens.length; ) {
    let end = Math.min(start + size, tokens.length)
    while (end < tokens.length && startsInsidePair(tokens[end])) end++
    groups.push({ start, end })
    start = end
  }
  return groups
}

function startsInsidePair(token: string | undefined): boolean {
  const code = token?.charCodeAt(0) ?? 0
  return code >= LOW_SURROGATE_FIRST && code <= LOW_SURROGATE_LAST
}
