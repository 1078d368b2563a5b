/** Writes arithmetic one way: "five times 6" has a ×, "New York Times" and "three times a day" have none. */
import { indexPhrases, matchPhrase } from './phrases.ts'
import { countedUnits, numberWords, operators } from './tables.ts'

const spelledOut = indexPhrases(operators.map(([from]) => from))
const symbols = new Map(operators)
const arithmetic = /^[\d.,()+*×÷^]+$/
const tightOperator = /(?<=[\d)])([*×+÷^])(?=[\d(])/g
const numeral = /^\(*[-+]?[$€£]?\d[\d.,]*%?\)*$/

/** The words with operators between numeric operands as symbols of their own; `2*3` is spaced out like `2 × 3`. */
export function unifyOperators(words: readonly string[], end: number): string[] {
  const spaced = words.flatMap((word, at) => (at < end ? spaceOut(word) : word))
  const last = end + spaced.length - words.length
  const unified: string[] = []
  for (let at = 0; at < spaced.length; ) {
    const length = at < last ? operatorAt(spaced, at) : 0
    const word = spaced.slice(at, at + Math.max(1, length)).join(' ')
    unified.push(length > 0 ? (symbols.get(word) ?? word) : word)
    at += Math.max(1, length)
  }
  return unified
}

function spaceOut(word: string): string | string[] {
  if (!arithmetic.test(word)) return word
  return word.replace(tightOperator, (_, operator: string) => ` ${symbols.get(operator) ?? operator} `).split(' ')
}

function operatorAt(words: readonly string[], at: number): number {
  const length = matchPhrase(spelledOut, words, at)
  if (length === 0 || !endsOperand(words[at - 1]) || !startsOperand(words[at + length])) return 0
  const isCount = words[at] === 'times' && countedUnits.has(bare(words[at + length + 1]))
  return isCount ? 0 : length
}

function endsOperand(word: string | undefined): boolean {
  return word !== undefined && !word.endsWith(',') && !word.endsWith('.') && isNumber(word)
}

function startsOperand(word: string | undefined): boolean {
  return word !== undefined && isNumber(bare(word))
}

function isNumber(word: string): boolean {
  if (numeral.test(word)) return true
  const inner = word.replace(/^\(+/, '').replace(/\)+$/, '')
  return inner.split('-').every(part => numberWords.has(part))
}

function bare(word: string | undefined): string {
  return word?.replace(/[.,;:?!]{1,8}$/, '') ?? ''
}
