/** Reads a question once, into what all guards need. */
import { splitVerbatim } from '../normalize/split-verbatim.ts'
import type { GuardFeatures } from './guard.ts'
import { readAction } from './reading/action.ts'
import { mergeNumbers } from './reading/merge-numbers.ts'
import { readQuestionKinds } from './reading/question-kind.ts'
import type { Token } from './reading/token.ts'
import { tokenize } from './reading/tokenize.ts'

/**
 * The features of a question, as the client wrote it: lower-casing it first would lose "US" and "Polish". Takes any string,
 * in linear time.
 */
export function extractFeatures(text: string): GuardFeatures {
  const spans = splitVerbatim(text.normalize('NFC'))
  const prose: Token[] = []
  for (const span of spans) if (span.kind !== 'code') tokenize(span.text, prose)
  const capitals = readCapitals(prose)
  const tokens = mergeNumbers(capitals === 'all' ? prose.map(inLowerCase) : prose)
  return {
    tokens,
    capitals,
    forms: new Set(tokens.flatMap(token => token.forms)),
    phrase: ` ${prose.map(token => token.key).join(' ')} `,
    code: spans.filter(span => span.kind === 'code').map(span => bareCode(span.text)),
    quotes: spans.filter(span => span.kind === 'quote').map(span => span.text.slice(1, -1).trim()),
    indentedLines: readIndentation(text),
    kinds: readQuestionKinds(tokens),
    isAction: readAction(tokens),
  }
}

function bareCode(span: string): string {
  let from = 0
  let to = span.length
  while (span[from] === '`') from += 1
  while (to > from && span[to - 1] === '`') to -= 1
  return span.slice(from, to).trim()
}

function readIndentation(text: string): string[] {
  if (!text.includes('\n')) return []
  return text.split('\n').filter(line => /^(?:\t| {2,})\S/.test(line))
}

function readCapitals(tokens: readonly Token[]): GuardFeatures['capitals'] {
  const words = tokens.filter(token => token.kind === 'word' && token.raw.toLowerCase() !== token.raw.toUpperCase())
  const capitalised = words.filter(token => token.raw[0] !== token.raw[0]?.toLowerCase())
  if (capitalised.length === 0) return 'none'
  if (words.length > 3 && words.every(token => token.raw === token.raw.toUpperCase())) return 'all'
  const long = words.filter(token => token.raw.length > 3 && !token.opensSentence)
  const isTitle = long.length > 2 && long.every(token => token.raw[0] !== token.raw[0]?.toLowerCase())
  return isTitle ? 'title' : 'prose'
}

function inLowerCase(token: Token): Token {
  return token.kind === 'word' ? { ...token, raw: token.raw.toLowerCase(), key: token.raw.toLowerCase() } : token
}
