/** Cuts text into pieces that a model might have streamed: about a few words each, never inside a character. */

/** About six tokens. */
const PIECE_CHARS = 24
/** Longer texts get longer pieces, which keeps a replay cheap. */
const MAX_PIECES = 200
/** A piece may be this much longer to end before a space. */
const WORD_SLACK = 2
/** Combining marks and joined emoji can be long: this many units are searched for a character's end. */
const CHARACTER_WINDOW = 64
const SPACE = 32
const LF = 10
const LOW_SURROGATE_FIRST = 0xdc00
const LOW_SURROGATE_LAST = 0xdfff

const characters = new Intl.Segmenter('und', { granularity: 'grapheme' })

/** At most about 200 pieces, which joined give the text; none for ''. */
export function cutText(text: string): string[] {
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
    // CR LF is one character, and the search is for the LF.
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

/** Groups tokens, which have one log probability each, into at most about 200 groups. */
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
