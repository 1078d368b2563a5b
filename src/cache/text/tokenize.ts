/** Splits prose into tokens. Rejects code, data, markup and formulas. */

export type TokenKind = 'word' | 'number' | 'name' | 'mark' | 'operator' | 'quotation' | 'code'

export interface Token {
  readonly kind: TokenKind
  /** The text as written, with normalized marks. */
  readonly key: string
  /** Position in the text; `end` is exclusive. */
  readonly start: number
  readonly end: number
  /** True when a line ends before the token. */
  readonly opensLine: boolean
  /** True when white space other than one space precedes the token. */
  readonly isApart: boolean
  /** True when its marks were normalized, such as `“x”` to `"x"`. */
  readonly isReshaped: boolean
}

/** Latin letters, with apostrophes and hyphens between them. */
const word = /^[A-Za-zÀ-ÖØ-öø-ÿĀ-ɏ]+(?:['’-][A-Za-zÀ-ÖØ-öø-ÿĀ-ɏ]+)*$/
/** A plural with an apostrophe: "dogs'". */
const possessive = /^[A-Za-zÀ-ÖØ-öø-ÿĀ-ɏ-]+s['’]$/
const dotted = /^(?:[A-Za-z]\.){2,5}$|^(?:[A-Za-z]\.){1,4}[A-Za-z]$/
const number = /^[-−+]?[$€£]?\d+(?:[.,]\d+)*%?$/
/** A name, a measure or a reference with digits or signs: "B12", "C++", "Disney+", "5mW", "Node.js", "AT&T", "2004-14". */
const name = /^[#$€£]?[\p{Script=Latin}\p{N}]+(?:[.\-/&:_][\p{Script=Latin}\p{N}]+)*(?:\+\+?|[#%])?$/u
const operator = /^(?:[+×÷*/=−-]|x)$/
const sum = /^\d+(?:\.\d+)?(?:[+×÷*]\d+(?:\.\d+)?)+$/
const closingMarks = new Set('.,;:?!)？！')
const shapes = new Map([
  ['？', '?'],
  ['！', '!'],
])
const quotePairs = new Map([
  ['"', '"'],
  ['“', '”'],
  ["'", "'"],
  ['‘', '’'],
  ['`', '`'],
])
/** Maximum consecutive punctuation marks. More are treated as a drawing. */
const MAX_CLOSING = 4

interface Cursor {
  readonly text: string
  readonly tokens: Token[]
  at: number
  opensLine: boolean
}

/** Returns the text's tokens; null when it is not plain prose. Linear, in a single pass. */
export function tokenize(text: string): readonly Token[] | null {
  if (isRow(text.trim())) return null
  const cursor: Cursor = { text, tokens: [], at: 0, opensLine: false }
  while (cursor.at < text.length) {
    const character = text[cursor.at] ?? ''
    if (/\s/.test(character)) {
      if (character === '\n' || character === '\r' || character === '\u2028') cursor.opensLine = true
      cursor.at += 1
    } else if (character === '(' || character === '¿' || character === '¡') {
      add(cursor, 'mark', 1)
    } else if (quotePairs.has(character)) {
      if (!addQuotation(cursor, character)) return null
    } else if (!addChunk(cursor)) return null
  }
  return cursor.tokens
}

/** Returns whether the text is a row of data, with at least as many tabs as spaces. */
function isRow(text: string): boolean {
  return text.includes('\t') && text.split('\t').length >= text.split(' ').length
}

function add(cursor: Cursor, kind: TokenKind, length: number, written?: string): void {
  const raw = cursor.text.slice(cursor.at, cursor.at + length)
  const key = written ?? raw
  const before = cursor.text.slice(cursor.tokens.at(-1)?.end ?? cursor.at, cursor.at)
  cursor.tokens.push({
    kind,
    key,
    start: cursor.at,
    end: cursor.at + length,
    opensLine: cursor.opensLine && cursor.tokens.length > 0,
    isApart: before !== '' && before !== ' ',
    isReshaped: key !== raw,
  })
  cursor.at += length
  cursor.opensLine = false
}

/** Adds a quotation. Its content stays unchanged; only its marks are normalized. */
function addQuotation(cursor: Cursor, open: string): boolean {
  const { text, at } = cursor
  const close = quotePairs.get(open) ?? open
  const end = text.indexOf(close, at + 1)
  if (end <= at + 1) return false
  const content = text.slice(at + 1, end)
  const after = text[end + 1] ?? ' '
  if (content.includes('\n') || !(/\s/.test(after) || closingMarks.has(after))) return false
  if (open === '`') {
    add(cursor, 'code', end + 1 - at)
    return addClosing(cursor)
  }
  const inner = open === '"' || open === '“' ? /["“”`]/ : /["“”'‘’`]/
  if (inner.test(content) || content.trim() !== content) return false
  add(cursor, 'quotation', end + 1 - at, `"${content}"`)
  return addClosing(cursor)
}

function addChunk(cursor: Cursor): boolean {
  const { text, at } = cursor
  let end = at
  while (end < text.length && !/\s/.test(text[end] ?? '')) end += 1
  const chunk = text.slice(at, end)
  if (dotted.test(chunk)) return addToken(cursor, 'name', chunk)
  let core = chunk.length
  while (core > 0 && closingMarks.has(chunk[core - 1] ?? '') && chunk.length - core <= MAX_CLOSING) core -= 1
  // Marks without a word may be the subject: "cd ..".
  if (core === 0) return chunk.length === 1 && addToken(cursor, 'mark', chunk)
  return addCore(cursor, chunk.slice(0, core)) && addClosing(cursor)
}

function addCore(cursor: Cursor, core: string): boolean {
  if (operator.test(core)) return addToken(cursor, 'operator', core)
  if (word.test(core) || possessive.test(core)) return addToken(cursor, 'word', core, core.replaceAll('’', "'"))
  if (number.test(core)) return addToken(cursor, 'number', core)
  if (sum.test(core)) return addSum(cursor, core)
  if (dotted.test(core) || core === '&' || name.test(core)) return addToken(cursor, 'name', core)
  return false
}

function addSum(cursor: Cursor, core: string): boolean {
  for (const [part] of core.matchAll(/[+×÷*]|[\d.]+/g))
    add(cursor, /\d/.test(part) ? 'number' : 'operator', part.length)
  return true
}

function addToken(cursor: Cursor, kind: TokenKind, core: string, written?: string): true {
  add(cursor, kind, core.length, written)
  return true
}

function addClosing(cursor: Cursor): boolean {
  for (let count = 0; closingMarks.has(cursor.text[cursor.at] ?? ''); count += 1) {
    if (count >= MAX_CLOSING) return false
    const mark = cursor.text[cursor.at] ?? ''
    add(cursor, 'mark', 1, shapes.get(mark) ?? mark)
  }
  return cursor.at >= cursor.text.length || /\s/.test(cursor.text[cursor.at] ?? '')
}
