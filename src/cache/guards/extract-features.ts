/** Reads a question once, into what all guards need. */
import { normalizePrompt } from '../../text/normalize/normalize-prompt.ts'
import { splitVerbatim } from '../../text/normalize/split-verbatim.ts'
import type { GuardFeatures } from './guard.ts'
import { readAction } from './reading/action.ts'
import { mergeNumbers } from './reading/merge-numbers.ts'
import { readQuestionKinds } from './reading/question-kind.ts'
import { readPiece } from './reading/read-piece.ts'
import { isAcronym, isCapitalised, type Token } from './reading/token.ts'
import { tokenize } from './reading/tokenize.ts'

/**
 * The features of a question, as the client wrote it: lower-casing it first would lose "US" and "Polish". Takes any string,
 * in linear time.
 */
export function extractFeatures(text: string): GuardFeatures {
  const spans = splitVerbatim(text.normalize('NFC'))
  const prose: Token[] = []
  for (const span of spans) tokenize(span.kind === 'code' ? nameIn(span.text) : span.text, prose)
  const capitals = readCapitals(prose)
  const tokens = mergeNumbers(heedCapitals(prose, capitals))
  return {
    tokens,
    capitals,
    forms: new Set(tokens.flatMap(token => token.forms)),
    phrase: ` ${prose.map(token => token.key).join(' ')} `,
    code: spans.filter(span => span.kind === 'code').map(span => bareCode(span.text)),
    quotes: spans.filter(span => span.kind === 'quote').map(span => span.text.slice(1, -1).trim()),
    indentedLines: readIndentation(text),
    courtesy: readCourtesy(text),
    formula: readFormula(text, tokens),
    kinds: readQuestionKinds(tokens),
    isAction: readAction(tokens),
  }
}

/** A single name in backticks also counts as the word it is; longer code is no prose. */
function nameIn(span: string): string {
  const code = bareCode(span)
  return /^[\p{L}\p{N}_]+$/u.test(code) ? code : ''
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

function readCourtesy(text: string): string {
  if (!/please|kindly|thank/i.test(text)) return ''
  return (
    normalizePrompt(text)
      .match(/(?:please|kindly|thank)/g)
      ?.join(' ') ?? ''
  )
}

/** "(2 + 3) × 4" has its brackets elsewhere than "2 + (3 × 4)". */
function readFormula(text: string, tokens: readonly Token[]): string {
  if (!tokens.some(token => token.kind === 'symbol')) return ''
  const formula = text.replace(/[^\d()[\]{}]/g, '')
  return /[([{]\d/.test(formula) ? formula : ''
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

/** In capitals throughout, words are read as in lower case; in prose, names are no plurals: "Aliens" is not "Alien". */
function heedCapitals(tokens: readonly Token[], capitals: GuardFeatures['capitals']): readonly Token[] {
  if (capitals === 'all') return tokens.map(inLowerCase)
  return capitals === 'prose' ? tokens.map(withoutPlural) : tokens
}

function inLowerCase(token: Token): Token {
  if (token.kind !== 'word') return token
  const words: Token[] = []
  readPiece(token.raw.toLowerCase(), token.raw, 0, token, words)
  return words[0] ?? token
}

function withoutPlural(token: Token): Token {
  const isName = token.kind === 'word' && token.weight === 'content' && !token.opensSentence && isCapitalised(token)
  if (!isName || isAcronym(token) || !/[^s']s$/.test(token.key) || /(?:an|er|ard|ist)s$/.test(token.key)) return token
  return { ...token, forms: [token.key] }
}
