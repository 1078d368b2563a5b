/** Reads prose into tokens: words, numbers, identifiers, links and signs. Linear in the length of the text. */
import { readPiece } from './read-piece.ts'
import type { Token } from './token.ts'

const piece =
  /[\p{L}\p{N}_][\p{L}\p{M}\p{N}_]*(?:(?:['._-]|(?<=\d)[,:/](?=\d))[\p{L}\p{N}_][\p{L}\p{M}\p{N}_]*)*(?:\+\+|#|%)?|[^\p{L}\p{N}\p{M}\s]/gu
const plainWord = /^[A-Za-z]+$/
/** "5(a)", without the last bracket. */
const clause = /^\d[\d.]{0,9}\([\p{L}\p{N}()]{1,12}$/u
const leadingMarks = '([{"\'¿¡#*@«'
const trailingMarks = ')]}"\'.,;:!?…*»'

/** Where a piece stands, as far as that changes how it is read. */
export interface Place {
  opensSentence: boolean
  afterPunctuation: boolean
}

/** Adds the tokens of a stretch of prose to `tokens`. */
export function tokenize(prose: string, tokens: Token[]): void {
  let opensSentence = tokens.length === 0
  let afterPunctuation = true
  for (const [chunk] of prose.matchAll(/\S+/g)) {
    readChunk(chunk, { opensSentence, afterPunctuation }, tokens)
    const last = chunk.at(-1) ?? ''
    opensSentence = '.?!:'.includes(last)
    afterPunctuation = ',;)–—-'.includes(last) || opensSentence
  }
}

function readChunk(chunk: string, place: Place, tokens: Token[]): void {
  let from = 0
  let to = chunk.length
  while (from < to && leadingMarks.includes(chunk[from] ?? '')) from += 1
  while (to > from && trailingMarks.includes(chunk[to - 1] ?? '')) to -= 1
  const core = chunk.slice(from, to)
  const here = from > 0 && chunk[0] !== '#' ? { ...place, afterPunctuation: true } : place
  if (core === '') readLoneMark(chunk, here, tokens)
  else if (plainWord.test(core)) readPiece(core, core, 0, here, tokens)
  else if (isLink(core)) tokens.push(signToken('link', core, here))
  else if (clause.test(core)) tokens.push({ ...signToken('link', core.toLowerCase(), here), kind: 'identifier' })
  else readPieces(core, here, tokens)
  if (chunk[to] === '!' && /^\p{L}$|[\d)]$/u.test(chunk.slice(Math.max(0, to - 2), to)))
    tokens.push(signToken('symbol', '!', here))
}

function readPieces(core: string, place: Place, tokens: Token[]): void {
  for (const match of core.matchAll(piece)) readPiece(match[0], core, match.index, place, tokens)
}

/** A mark between spaces is an operator when it follows a number, and else a bullet or a dash. */
function readLoneMark(chunk: string, place: Place, tokens: Token[]): void {
  if (chunk === '*' && tokens.at(-1)?.kind === 'number') tokens.push(signToken('symbol', '×', place))
}

function isLink(core: string): boolean {
  if (core.includes('://') || core.includes('\\') || core.startsWith('www.')) return true
  if (/^(?:~?\/|\.{1,2}\/|[A-Za-z]:\/)[\p{L}\p{N}_.-]/u.test(core)) return true
  const sign = core.indexOf('@')
  return sign > 0 && core.indexOf('.', sign) > sign + 1
}

function signToken(kind: 'link' | 'symbol', text: string, place: Place): Token {
  return { kind, raw: text, key: text, forms: [text], weight: kind === 'link' ? 'content' : 'function', ...place }
}
