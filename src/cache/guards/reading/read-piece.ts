/** Reads one piece of prose, a run of letters and digits or a single sign, into tokens. */
import { functionWords, lightWords } from '../lexicon/function-words.ts'
import { attachedScales } from '../lexicon/number-words.ts'
import { leadingUnits, units } from '../lexicon/units.ts'
import { inflectionForms } from './inflections.ts'
import type { Token } from './token.ts'
import type { Place } from './tokenize.ts'
import { isUnspaced } from './unspaced.ts'

const onlyLetters = /^[\p{L}\p{M}']+$/u
const lettersAndSuffix = /^\p{L}[\p{L}\p{M}]{0,15}(?:\+\+|#)$/u
const lettersAndHyphens = /^[\p{L}\p{M}'-]+$/u
const initials = /^\p{L}(?:\.\p{L})+$/u
const plainNumber = /^(?:\d{1,3}(?:,\d{2,3})+|\d+)(?:\.\d+)?$/
const digitsAndMarks = /^[\p{Nd}.,:/-]+$/u
const numberAndSuffix = /^(\d[\d.,]*)(-?)([\p{L}\p{M}-]+)$/u
const unitAndNumber = /^([A-Za-z]{2,3})\.?(\d[\d.,]*)$/
const ordinary = new Set('.,;:!?\'"()[]{}–—…&¿¡«»`·•@#_')
const operators = new Map([
  ['*', '×'],
  ['−', '-'],
  ['/', '÷'],
])

const prefixed = /^(?:un|non|re|pre|anti|co|de|dis|mis|sub|e)-[\p{L}\p{M}']+$/iu

/** Capitals that make a word of structure a name: "US" is no "us". */
const namesInCapitals = new Set(['US', 'IT', 'WHO'])

/** Adds the tokens of `text`, found at `index` of `chunk`, to `tokens`. */
export function readPiece(text: string, chunk: string, index: number, place: Place, tokens: Token[]): void {
  if (onlyLetters.test(text)) readLetters(text, place, tokens)
  else if (lettersAndSuffix.test(text)) tokens.push(nameToken('word', text, place))
  else if (text.endsWith('%')) readNumber(text.slice(0, -1), '%', place, tokens)
  else if (/^\p{N}/u.test(text)) readDigits(text, signBefore(chunk, index), place, tokens)
  else if (lettersAndHyphens.test(text)) readHyphenated(text, place, tokens)
  else if (initials.test(text)) readLetters(text.replaceAll('.', ''), place, tokens)
  else if (/[\p{L}\p{N}_]/u.test(text)) readIdentifier(text, place, tokens)
  else readSign(text, chunk, index, place, tokens)
}

function readLetters(text: string, place: Place, tokens: Token[]): void {
  if (isUnspaced(text)) for (const letter of text) tokens.push(nameToken('word', letter, place))
  else if (text !== '') tokens.push(wordToken(text, place))
}

/** "Hip-hop" is two words, "un-merge" one; "sugar-free" is without sugar. */
function readHyphenated(text: string, place: Place, tokens: Token[]): void {
  const words = prefixed.test(text) ? [text.replace('-', '')] : text.split('-')
  for (const each of words) readLetters(each, place, tokens)
  const last = tokens.at(-1)
  if (last !== undefined && /-free$/i.test(text))
    tokens[tokens.length - 1] = { ...last, key: 'without', weight: 'function' }
}

function wordToken(raw: string, place: Place): Token {
  if (isLabel(raw, place)) return nameToken('identifier', raw, place)
  if (namesInCapitals.has(raw)) return { kind: 'word', raw, key: raw, forms: [raw], weight: 'content', ...place }
  const key = raw.toLowerCase()
  const forms = formsOf(raw, key)
  return { kind: 'word', raw, key, forms, weight: weightOf(key, forms), ...place }
}

/** A single letter names one of several ("vitamin B", "plan A"), but for those that are words or ends of words. */
function isLabel(raw: string, place: Place): boolean {
  if (!/^[a-z]$/i.test(raw)) return false
  return raw === 'A' ? !place.opensSentence : !/[aiuost]/i.test(raw)
}

/** Acronyms and names with capitals inside have no inflections, but for a plural "s". */
function formsOf(raw: string, key: string): readonly string[] {
  if (raw === key || raw.slice(1) === key.slice(1)) return inflectionForms(key)
  if (/[A-Z]'?s$/.test(raw)) return [key, key.replace(/'?s$/, '')]
  return raw === raw.toUpperCase() && raw.length > 4 ? inflectionForms(key) : [key]
}

function weightOf(key: string, forms: readonly string[]): Token['weight'] {
  const apostrophe = key.indexOf("'")
  if (functionWords.has(apostrophe === -1 ? key : key.slice(0, apostrophe)) || key.endsWith("n't")) return 'function'
  return forms.some(form => lightWords.has(form)) ? 'light' : 'content'
}

function readDigits(text: string, sign: string, place: Place, tokens: Token[]): void {
  if (plainNumber.test(text)) readNumber(sign + text, undefined, place, tokens)
  else if (digitsAndMarks.test(text)) tokens.push({ ...nameToken('number', text, place), key: sign + text })
  else readSuffixed(text, place, tokens)
}

/** "5kg", "30-year", "1st", "10k", "2-bedroom", and what is none of these: "3d". */
function readSuffixed(text: string, place: Place, tokens: Token[]): void {
  const [, digits = '', hyphen = '', suffix = ''] = numberAndSuffix.exec(text) ?? []
  const lower = suffix.toLowerCase()
  const unit = units.get(lower)
  const scale = attachedScales.get(lower)
  if (/^(?:st|nd|rd|th)$/.test(lower)) tokens.push({ ...nameToken('number', text, place), key: `#${digits}` })
  else if (scale !== undefined) readNumber(String(Number(digits.replaceAll(',', '')) * scale), undefined, place, tokens)
  else if (unit !== undefined && !/^\d{4}s$/.test(text)) readNumber(digits, unit, place, tokens)
  else if (hyphen !== '' && lettersAndHyphens.test(suffix)) {
    readNumber(digits, undefined, place, tokens)
    readHyphenated(suffix, place, tokens)
  } else readIdentifier(text, place, tokens)
}

function readNumber(text: string, unit: string | undefined, place: Place, tokens: Token[]): void {
  const key = plainNumber.test(text.replace(/^-/, '')) ? text.replaceAll(',', '') : text
  tokens.push({ ...nameToken('number', text, place), key, ...(unit === undefined ? {} : { unit }) })
}

function readIdentifier(text: string, place: Place, tokens: Token[]): void {
  const [, currency = '', digits = ''] = unitAndNumber.exec(text) ?? []
  if (leadingUnits.has(currency.toLowerCase())) readNumber(digits, units.get(currency.toLowerCase()), place, tokens)
  else tokens.push({ ...nameToken('identifier', text, place), key: text.toLowerCase().replaceAll('-', '') })
}

function readSign(text: string, chunk: string, index: number, place: Place, tokens: Token[]): void {
  const isInside = index > 0 && index + text.length < chunk.length
  const isLone = text === chunk
  const afterNumber = tokens.at(-1)?.kind === 'number'
  if (ordinary.has(text)) return
  if ('-/'.includes(text) && !(isLone && afterNumber)) return
  if (text === '*' && !isInside && !afterNumber) return
  tokens.push({ ...nameToken('symbol', text, place), key: operators.get(text) ?? text, weight: 'function' })
}

/** A minus sign belongs to the number when nothing but an opening mark or an operator stands before it. */
function signBefore(chunk: string, index: number): string {
  const before = chunk[index - 1]
  if (before !== '-' && before !== '−') return ''
  return index === 1 || '(=<>*+/,'.includes(chunk[index - 2] ?? '') ? '-' : ''
}

function nameToken(kind: Token['kind'], raw: string, place: Place): Token {
  const key = raw.toLowerCase()
  return { kind, raw, key, forms: [key], weight: 'content', ...place }
}
