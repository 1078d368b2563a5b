/** Cuts text into pieces such as a model streams: a few words each, never cut inside a character. */

/** About six tokens. */
const PIECE_CHARS = 24
/** Longer texts are cut into longer pieces, so that replaying them stays cheap. */
const MAX_PIECES = 200
/** How many characters a piece may be longer than wanted, to end before a space. */
const WORD_SLACK = 2
/** Characters examined to find a character's end: combining marks and joined emoji can be long. */
const CHARACTER_WINDOW = 64
const SPACE = 32
const LF = 10
const LOW_SURROGATE_FIRST = 0xdc00
const LOW_SURROGATE_LAST = 0xdfff

const characters = new Intl.Segmenter('und', { granularity: 'grapheme' })

/** Returns at most about 200 pieces, which joined give the text; none for ''. */
export function chunkText(text: string): string[] {
  const wanted = Math.max(PIECE_CHARS, Math.ceil(text.length / MAX_PIECES))
  const pieces: string[] = []
  for (let start = 0; start < text.length; ) {
    const end = findPieceEnd(text, start, wanted)
    pieces.push(text.slice(start, end))
    start = end
  }
  return pieces
}

function findPieceEnd(text: string, start: number, wanted: number): number {
  const end = start + wanted
  if (end + wanted / 2 >= text.length) return text.length
  const limit = Math.min(text.length, end + wanted * WORD_SLACK)
  for (let at = end; at < limit; at++) {
    // CRLF counts as one character. Only the LF is looked for.
    const code = text.charCodeAt(at)
    if (code === SPACE || (code === LF && text[at - 1] !== '\r')) return at
  }
  return findCharacterEnd(text, start, wanted)
}

function findCharacterEnd(text: string, start: number, wanted: number): number {
  const window = text.slice(start, start + wanted + CHARACTER_WINDOW)
  const at = characters.segment(window).containing(wanted)
  if (at === undefined) return text.length
  return start + (at.index > 0 ? at.index : at.segment.length)
}

/** Groups tokens into at most about 200 groups. Tokens stay whole, because each has its own log probability. */
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
