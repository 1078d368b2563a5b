/** Reads numbers that take several words ("two hundred and five", "5 million", "World War II") and the units beside them. */
import { addends, beforeRomanOne, ordinals, romanNumerals, scales } from '../lexicon/number-words.ts'
import { onlyBesideNumbers, units } from '../lexicon/units.ts'
import { isCapitalised, type Token } from './token.ts'

/** The tokens with number words made numbers, units put to their number, and spelled-out operators made signs. */
export function mergeNumbers(tokens: readonly Token[]): Token[] {
  const merged: Token[] = []
  for (let at = 0; at < tokens.length; ) {
    const token = tokens[at]
    if (token === undefined) break
    const length = readNumberAt(tokens, at, merged)
    if (length === 0) merged.push(token)
    at += Math.max(1, length)
  }
  attachUnits(merged)
  return spellOperators(merged)
}

function readNumberAt(tokens: readonly Token[], at: number, merged: Token[]): number {
  const token = tokens[at]
  if (token === undefined) return 0
  const single = ordinalOf(token, merged.at(-1)) ?? romanOf(token, merged.at(-1))
  if (single !== undefined) {
    merged.push(numberToken(token, single))
    return 1
  }
  return readCardinal(tokens, at, merged)
}

function readCardinal(tokens: readonly Token[], at: number, merged: Token[]): number {
  const first = tokens[at]
  if (first === undefined || !startsCardinal(first, tokens[at + 1])) return 0
  let total = 0
  let group = first.kind === 'number' ? Number(first.key) : numberOf(first)
  let end = at + 1
  for (let token = tokens[end]; token !== undefined && token.kind === 'word'; token = tokens[end]) {
    const scale = scales.get(token.key)
    if (scale !== undefined) {
      group = (group || 1) * scale
      if (scale >= 1000) [total, group] = [total + group, 0]
    } else if (!joins(group, total, token, tokens, end)) break
    else group += token.key === 'and' ? 0 : numberOf(token)
    end += 1
  }
  const isAsWritten = first.kind === 'number' && end === at + 1
  merged.push(isAsWritten ? first : numberToken(first, String(total + group)))
  return end - at
}

function startsCardinal(token: Token, next: Token | undefined): boolean {
  if (token.kind === 'number') return token.unit === undefined && Number.isFinite(Number(token.key))
  if (token.kind !== 'word') return false
  if (token.key === 'one') return next !== undefined && scales.has(next.key)
  return addends.has(token.key) || scales.has(token.key)
}

/** "twenty five", "hundred five", "hundred and five", "two million five": the next word goes on with the same number. */
function joins(group: number, total: number, token: Token, tokens: readonly Token[], at: number): boolean {
  const afterHundred = group >= 100 && group % 100 === 0
  if (token.key === 'and') return (afterHundred || (group === 0 && total > 0)) && addends.has(tokens[at + 1]?.key ?? '')
  const value = token.key === 'one' ? 1 : addends.get(token.key)
  if (value === undefined || !Number.isInteger(value)) return false
  if (group === 0) return total > 0
  return (afterHundred && value < 100) || (value > 0 && value < 10 && group % 100 >= 20 && group % 10 === 0)
}

function numberOf(token: Token): number {
  return token.key === 'one' ? 1 : (addends.get(token.key) ?? scales.get(token.key) ?? 0)
}

function ordinalOf(token: Token, before: Token | undefined): string | undefined {
  const value = token.kind === 'word' ? ordinals.get(token.key) : undefined
  if (value === undefined || (token.key === 'second' && before?.kind === 'number')) return undefined
  return `#${value}`
}

function romanOf(token: Token, before: Token | undefined): string | undefined {
  if (token.kind !== 'word' || before?.kind !== 'word') return undefined
  if (token.raw === 'I') return beforeRomanOne.has(before.key) ? '1' : undefined
  const value = romanNumerals.get(token.raw)
  if (value === undefined || (token.raw.length === 1 && (before.opensSentence || !isCapitalised(before))))
    return undefined
  return String(value)
}

/** A unit beside a number is part of it: as a word of its own it no longer counts. */
function attachUnits(tokens: Token[]): void {
  for (const [at, token] of tokens.entries()) {
    if (token.kind !== 'number' || token.key.startsWith('#')) continue
    for (const neighbour of [tokens[at + 1], tokens[at - 1]]) {
      const unit = neighbour === undefined || neighbour.kind === 'number' ? undefined : units.get(neighbour.key)
      const isBehind = neighbour === tokens[at - 1]
      if (token.unit !== undefined || neighbour === undefined || unit === undefined || (isBehind && !leads(neighbour)))
        continue
      tokens[at] = { ...token, unit }
      neighbour.weight = 'function'
      if (neighbour.kind === 'symbol') neighbour.key = ''
      break
    }
  }
}

function leads(token: Token): boolean {
  return (
    token.kind === 'symbol' || (/^(?:rs|usd|eur|gbp|inr|jpy|cny)$/.test(token.key) && !onlyBesideNumbers.has(token.key))
  )
}

const spelled = new Map([
  ['times', '×'],
  ['x', '×'],
  ['multiplied', '×'],
  ['plus', '+'],
  ['minus', '-'],
  ['divided', '÷'],
])

/** "5 times 6" is "5 × 6"; a sign that was read between a number and a word ("5 - the answer") is none. */
function spellOperators(tokens: readonly Token[]): Token[] {
  const signed: Token[] = []
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at]
    if (token === undefined || (token.kind === 'symbol' && token.key === '')) continue
    const sign = token.kind === 'word' ? spelled.get(token.key) : undefined
    const by = token.key === 'multiplied' || token.key === 'divided' ? 1 : 0
    const isBetween = signed.at(-1)?.kind === 'number' && tokens[at + 1 + by]?.kind === 'number'
    if (sign !== undefined && isBetween) {
      signed.push({ ...token, kind: 'symbol', key: sign, forms: [sign], weight: 'function' })
      at += by
    } else if (token.kind !== 'symbol' || !'-÷'.includes(token.key) || isBetween) signed.push(token)
  }
  return signed
}

function numberToken(token: Token, key: string): Token {
  return { ...token, kind: 'number', key, forms: [key], weight: 'content' }
}
