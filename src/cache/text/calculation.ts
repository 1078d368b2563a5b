/** Normalizes a calculation in words to figures and signs: "five times 6" becomes "5 × 6". */
import { operatorPatterns } from './patterns.ts'

const units =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'
const tens = 'twenty thirty forty fifty sixty seventy eighty ninety'
const values: ReadonlyMap<string, number> = new Map([
  ...units.split(' ').map((word, at) => [word, at] as const),
  ...tens.split(' ').map((word, at) => [word, 20 + 10 * at] as const),
])

/** Returns the value of a lower-case number word. Undefined for other words. */
export const parseNumberWord = (word: string): number | undefined => values.get(word)

const opening = /^(?:(?:what is|how much is|calculate|compute|solve) )?(.+)$/
const figure = /^-?\d+(?:\.\d+)?$/
/** Maximum words of an operator. The longest match comes first. */
const MAX_OPERATOR_WORDS = 2

/** Returns the normalized calculation. Null unless the sentence is operands with operators in between. "3 times 2 days ago" is not. */
export function normalizeCalculation(sentence: string): string | null {
  const words = opening.exec(sentence)?.[1]?.split(' ') ?? []
  const written: string[] = []
  for (let at = 0; at < words.length; ) {
    const isOperand = written.length % 2 === 0
    const found = isOperand ? operandAt(words, at) : operatorAt(words, at)
    if (!found) return null
    written.push(found.text)
    at += found.length
  }
  return written.length > 2 && written.length % 2 === 1 ? `what is ${written.join(' ')}` : null
}

function operandAt(words: readonly string[], at: number): { text: string; length: number } | null {
  const word = words[at] ?? ''
  if (figure.test(word)) return { text: word, length: 1 }
  const [ten = '', unit] = word.split('-')
  const value = values.get(ten)
  if (value === undefined) return null
  const more = values.get(unit ?? words[at + 1] ?? '') ?? 0
  if (value >= 20 && more > 0 && more < 10) return { text: String(value + more), length: unit === undefined ? 2 : 1 }
  return unit === undefined ? { text: String(value), length: 1 } : null
}

function operatorAt(words: readonly string[], at: number): { text: string; length: number } | null {
  for (let length = MAX_OPERATOR_WORDS; length > 0; length -= 1) {
    const text = words.slice(at, at + length).join(' ')
    const sign = operatorPatterns.find(([pattern]) => pattern.test(text))?.[1]
    if (sign !== undefined) return { text: sign, length }
  }
  return null
}
