/** Finds the one exchange of words by which two otherwise equal questions differ: verdicts on such pairs can teach it. */
import type { Exchange } from '../../postgres/equivalences.ts'
import { structureWords } from '../../text/english/openers.ts'
import { lowerKey } from '../../text/phrases.ts'
import type { PromptReading } from '../../text/read-prompt.ts'
import type { Token } from '../../text/token.ts'
import { differenceKind } from './difference.ts'

/** Exchanges that were learned to be harmless. */
export interface LearnedExchanges {
  allows(exchange: Exchange): boolean
}

export const NOTHING_LEARNED: LearnedExchanges = { allows: () => false }

/** A longer stretch is practically a sentence of its own, and does not repeat. */
const MAX_WORDS = 4
const MAX_CHARS = 100

/**
 * Returns null when the questions differ in more than one place, or in something that verdicts on other pairs cannot settle: numbers,
 * negations, persons, names with digits, signs, quotations, letter case; words whose meaning depends on their neighbours ("in", "was");
 * and a word whose meaning is asked about.
 */
export function findExchange(asked: PromptReading, cached: PromptReading): Exchange | null {
  const [ours, theirs] = [asked.tokens, cached.tokens]
  if (!ours || !theirs || asked.language !== cached.language) return null
  const before = commonLength(ours, theirs, at => [ours[at], theirs[at]])
  const after = commonLength(ours.slice(before), theirs.slice(before), at => [ours.at(-1 - at), theirs.at(-1 - at)])
  const mine = ours.slice(before, ours.length - after)
  const other = theirs.slice(before, theirs.length - after)
  const rest = [...ours.slice(0, before), ...ours.slice(ours.length - after)]
  if (!isTeachable(mine, other) || lowerKey(ours.at(-1)) === 'mean') return null
  const around = [...new Set(rest.filter(token => token.kind !== 'mark').map(token => token.key))].sort()
  const stretches = [mine, other].map(stretch => stretch.map(token => token.key).join(' ')).sort()
  const [first = '', second = ''] = stretches
  const fits = around.length > 0 && stretches.every(stretch => stretch.length <= MAX_CHARS)
  return fits ? { one: first, other: second, around } : null
}

function commonLength(
  ours: readonly Token[],
  theirs: readonly Token[],
  pairAt: (at: number) => readonly [Token | undefined, Token | undefined],
): number {
  const most = Math.min(ours.length, theirs.length)
  let length = 0
  while (length < most) {
    const [one, other] = pairAt(length)
    if (one?.key !== other?.key || one?.kind !== other?.kind) break
    length += 1
  }
  return length
}

function isTeachable(mine: readonly Token[], other: readonly Token[]): boolean {
  const both = [...mine, ...other]
  if (both.length === 0 || mine.length > MAX_WORDS || other.length > MAX_WORDS) return false
  // A word in both stretches means a second difference, or another order.
  if (mine.some(token => other.some(each => each.key === token.key))) return false
  if (both.some(token => token.kind !== 'word') || both.every(token => structureWords.has(lowerKey(token))))
    return false
  const kind = differenceKind(mine, other)
  return kind === 'words' || kind === 'added-words'
}
