/** Knows what negates: words, contractions, and prefixes. */
import { functionWords } from '../lexicon/function-words.ts'
import { wordSet } from '../lexicon/word-list.ts'
import type { Token } from './token.ts'

/** Words that negate, in English and, so that other languages are not served the opposite, in the most common others. */
const english = wordSet(`
  not never no without none nobody nothing nowhere neither cannot cant dont doesnt didnt isnt arent wasnt werent wont hasnt havent
  couldnt shouldnt wouldnt except excluding lacking lack lacks non
`)

/** Other languages negate twice for emphasis, so there the count is compared, and "ne … pas" counts once. */
const foreign = wordSet(`
  nicht kein keine keinen keinem keiner nie niemals ohne nichts pas jamais sans aucun aucune nunca jamás sin não sem senza niente
  niet geen nooit zonder inte aldrig utan ikke aldri uten uden не нет нельзя без никогда nigdy bez není değil yok hayır
  لا ليس غير لم لن بدون नहीं बिना δεν όχι χωρίς לא בלי không tidak bukan jangan tanpa walang
`)

const negatingPrefixes = ['un', 'in', 'im', 'il', 'ir', 'dis', 'non', 'mis', 'de']
const shortestBase = 3

/** Words before which "not" denies nothing: "why not", "or not". */
const idiomatic = new Set(['or', 'why', 'whether', 'if'])

/** The indexes of the English words that negate something. */
export function findNegations(tokens: readonly Token[]): number[] {
  const found: number[] = []
  for (const [at, token] of tokens.entries()) if (negates(token, tokens[at - 1], tokens[at + 1])) found.push(at)
  return found
}

/** How many words of other languages negate something. */
export function countForeignNegations(tokens: readonly Token[]): number {
  return tokens.filter(token => foreign.has(token.key)).length
}

function negates(token: Token, before: Token | undefined, after: Token | undefined): boolean {
  if (token.kind !== 'word') return false
  if (token.key.endsWith("n't")) return true
  if (token.key === 'out') return before?.key === 'with'
  if (!english.has(token.key)) return false
  if (token.key === 'not') return !idiomatic.has(before?.key ?? '') && after?.key !== 'only' && after?.key !== 'just'
  return !(token.key === 'no' && (after === undefined || after.kind === 'number' || after.afterPunctuation))
}

/** What a lower-case word denies, by its prefix: "available" for "unavailable". A word that only looks like it gives a non-word. */
export function basesOf(word: string): string[] {
  return negatingPrefixes
    .filter(prefix => word.startsWith(prefix) && word.length >= prefix.length + shortestBase)
    .map(prefix => word.slice(prefix.length))
    .filter(base => !functionWords.has(base))
}

/** Whether one of two lower-case words is the other with a negating prefix. */
export function isNegationOf(one: string, other: string): boolean {
  return one.length > other.length ? basesOf(one).includes(other) : basesOf(other).includes(one)
}
