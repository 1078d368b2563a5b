/** Splits a prompt into plain prose and verbatim parts (code, quoted strings), whose every character may matter. */

export interface Span {
  kind: 'plain' | 'code' | 'quote'
  text: string
}

const codeFence = 3
const letterOrDigit = /[\p{L}\p{N}\p{M}]/u
const opensAfter = /[\s([{<=,:;/—–-]/
const curlySingle = /[\u2018\u2019\u201A\u201B]/g
const curlyDouble = /[\u201C\u201D\u201E\u201F]/g

/**
 * The parts of `text` in order. Curly quotes outside code come back straight; nothing else is changed, so that the parts
 * joined are the text. An unclosed fence runs to the end; an unclosed backtick or quote is plain. Takes linear time.
 */
export function splitVerbatim(text: string): Span[] {
  const spans: Span[] = []
  let plainFrom = 0
  let at = text.indexOf('`')
  const unclosed = new Set<number>()
  while (at !== -1) {
    const length = backticksAt(text, at)
    const end = unclosed.has(length) ? -1 : endOfCode(text, at, length)
    if (end === -1) unclosed.add(length)
    else {
      splitQuotes(text.slice(plainFrom, at), spans)
      spans.push({ kind: 'code', text: text.slice(at, end) })
      plainFrom = end
    }
    at = text.indexOf('`', end === -1 ? at + length : end)
  }
  splitQuotes(text.slice(plainFrom), spans)
  return spans
}

function backticksAt(text: string, at: number): number {
  let end = at
  while (text[end] === '`') end += 1
  return end - at
}

function endOfCode(text: string, at: number, length: number): number {
  const closing = text.indexOf('`'.repeat(length), at + length)
  if (closing !== -1) return closing + length
  return length >= codeFence ? text.length : -1
}

function splitQuotes(prose: string, spans: Span[]): void {
  if (prose === '') return
  const plain = prose.replace(curlySingle, "'").replace(curlyDouble, '"')
  const unclosed = new Set<string>()
  let plainFrom = 0
  for (let at = 0; at < plain.length; at += 1) {
    const mark = plain[at]
    if ((mark !== '"' && mark !== "'") || unclosed.has(mark) || !opensQuote(plain, at)) continue
    const closing = mark === '"' ? plain.indexOf(mark, at + 1) : closingApostrophe(plain, at + 1)
    if (closing === -1) {
      unclosed.add(mark)
      continue
    }
    if (at > plainFrom) spans.push({ kind: 'plain', text: plain.slice(plainFrom, at) })
    spans.push({ kind: 'quote', text: plain.slice(at, closing + 1) })
    plainFrom = closing + 1
    at = closing
  }
  if (plainFrom < plain.length) spans.push({ kind: 'plain', text: plain.slice(plainFrom) })
}

function opensQuote(text: string, at: number): boolean {
  const before = text[at - 1]
  const after = text[at + 1]
  return (before === undefined || opensAfter.test(before)) && after !== undefined && !/\s/.test(after)
}

/** A single quote closes after a character that is not space and before one that is not part of a word: `don't` never does. */
function closingApostrophe(text: string, from: number): number {
  for (let at = text.indexOf("'", from + 1); at !== -1; at = text.indexOf("'", at + 1)) {
    const after = text[at + 1]
    if (/\s/.test(text[at - 1] ?? ' ')) continue
    if (after === undefined || !letterOrDigit.test(after)) return at
  }
  return -1
}
