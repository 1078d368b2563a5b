/** English number words, and calculations in words. */
import { lowerKey } from '../phrases.ts'
import { replaceWords, rewrite, type Token } from '../token.ts'

const units =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'
const tens = 'twenty thirty forty fifty sixty seventy eighty ninety'
const values: ReadonlyMap<string, number> = new Map([
  ...units.split(' ').map((word, at) => [word, at] as const),
  ...tens.split(' ').map((word, at) => [word, 20 + 10 * at] as const),
])
const multiples: ReadonlyMap<string, number> = new Map([
  ['hundred', 100],
  ['thousand', 1000],
])
/** After these, the question is about the form: "How do I write five", as a word or as a figure. */
const beforeForms = new Set([
  'write',
  'writing',
  'written',
  'type',
  'read',
  'call',
  'called',
  'number',
  'no',
  'any',
  'every',
])

/** Writes number words from two on as figures; "one" is often a pronoun, and stays. */
export function writeNumbers(tokens: readonly Token[]): Token[] {
  const written: Token[] = []
  for (let at = 0; at < tokens.length; ) {
    const number = numberAt(tokens, at)
    const found = number && !beforeForms.has(lowerKey(tokens[at - 1])) && !isOfSum(tokens, at) ? number : null
    const token = tokens[at]
    if (!token) break
    written.push(...(found ? asNumber(tokens.slice(at, at + found.length), found.value) : [token]))
    at += found?.length ?? 1
  }
  return written.flatMap((token, at) => writePercent(token, written[at - 1], written[at + 1]))
}

function asNumber(replaced: readonly Token[], value: number): Token[] {
  return replaceWords(replaced, [String(value)], 'number-word').map(token => ({ ...token, kind: 'number' }))
}

/** Either part of "three hundred and five", which is one number. */
function isOfSum(tokens: readonly Token[], at: number): boolean {
  const isMultiple = (place: number) => multiples.has(wordAt(tokens, place))
  const ends = [at + 1, at + 2].find(isMultiple)
  return (
    (wordAt(tokens, at - 1) === 'and' && isMultiple(at - 2)) ||
    (ends !== undefined && wordAt(tokens, ends + 1) === 'and')
  )
}

/** "Twenty five dollar bills" may mean twenty bills of five dollars. */
function numberAt(tokens: readonly Token[], at: number): { value: number; length: number } | null {
  const first = smallAt(tokens, at)
  if (!first || first.length > 1 || (smallAt(tokens, at - 1)?.length ?? 1) > 1) return null
  const multiple = multiples.get(wordAt(tokens, at + first.length))
  if (multiple === undefined) return first.value > 1 ? first : null
  return { value: first.value * multiple, length: first.length + 1 }
}

/** "Twenty-five", "twenty five", "five". */
function smallAt(tokens: readonly Token[], at: number): { value: number; length: number } | null {
  const word = wordAt(tokens, at)
  if (!values.has(word) && !word.includes('-')) return null
  const [ten, unit, ...more] = word.split('-')
  const value = values.get(ten ?? '')
  if (value === undefined || more.length > 0) return null
  if (unit !== undefined) return joined(value, values.get(unit), 1)
  return joined(value, values.get(wordAt(tokens, at + 1)), 2) ?? { value, length: 1 }
}

function joined(ten: number, unit: number | undefined, length: number): { value: number; length: number } | null {
  return ten >= 20 && unit !== undefined && unit > 0 && unit < 10 ? { value: ten + unit, length } : null
}

/** Only in lower case: "Seven" within a sentence is part of a name. */
function wordAt(tokens: readonly Token[], at: number): string {
  return tokens[at]?.kind === 'word' ? tokens[at].key : ''
}

function writePercent(token: Token, before: Token | undefined, after: Token | undefined): Token[] {
  if (token.kind === 'number' && token.key.endsWith('%') === false && after?.key === 'percent') {
    return [{ ...rewrite(token, `${token.key}%`, 'number-word'), end: after.end }]
  }
  return token.key === 'percent' && before?.kind === 'number' ? [] : [token]
}

const operators: ReadonlyArray<readonly [words: readonly string[], symbol: string]> = [
  [['multiplied', 'by'], '×'],
  [['divided', 'by'], '÷'],
  [['times'], '×'],
  [['x'], '×'],
  [['*'], '×'],
  [['×'], '×'],
  [['plus'], '+'],
  [['+'], '+'],
  [['minus'], '-'],
  [['−'], '-'],
  [['-'], '-'],
  [['/'], '÷'],
  [['÷'], '÷'],
]
const plainNumber = /^-?\d+(?:\.\d+)?$/

/**
 * Normalizes a calculation from `at` to the end; null when the tokens are none. Only alternating numbers and operators are one: "3 times
 * 2 days ago" is not.
 */
export function writeCalculation(tokens: readonly Token[], at: number): Token[] | null {
  const written: Token[] = []
  let place = at
  while (place < tokens.length) {
    const operand = smallAt(tokens, place)
    const token = tokens[place]
    if (!token) return null
    if (operand) written.push(...asNumber(tokens.slice(place, place + operand.length), operand.value))
    else if (plainNumber.test(token.key)) written.push(token)
    else return null
    place += operand?.length ?? 1
    if (place === tokens.length) break
    const found = operators.find(([words]) => words.every((word, offset) => tokens[place + offset]?.key === word))
    if (!found) return null
    const [words, symbol] = found
    const replaced = tokens.slice(place, place + words.length)
    written.push(...asOperator(replaced, symbol))
    place += words.length
    if (place === tokens.length) return null
  }
  return written.length > 1 ? written : null
}

function asOperator(replaced: readonly Token[], symbol: string): Token[] {
  const [only] = replaced
  if (replaced.length === 1 && only?.key === symbol) return [only]
  return replaceWords(replaced, [symbol], 'operator').map(token => ({ ...token, kind: 'operator' }))
}
