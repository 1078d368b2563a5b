/** Words that may stand for one another, once in a text: the same thing by another name, in sentences where it is that thing. */
import { lowerKey } from '../../text/phrases.ts'
import { type Token, wordSet } from '../../text/token.ts'

interface Condition {
  /** One of these words must be in the text: it shows which thing is meant. */
  readonly beside?: ReadonlySet<string>
  /** None of these words may be in the text. */
  readonly without?: ReadonlySet<string>
  /** Words before which the pair is no longer one. */
  readonly notBefore?: ReadonlySet<string>
}

/** A film is also a layer, a foil and what a camera takes. */
const cinema: Condition = {
  beside: wordSet(`
    watch watched watching see seen ever actor actors actress director directed cinema netflix hollywood bollywood oscar oscars horror
    comedy romantic animated action thriller sci-fi kids children superhero cast sequel trailer subtitles
  `),
  without: wordSet(
    'camera lens lenses window windows glass roll layer screen surface develop plastic negative negatives',
  ),
  notBefore: wordSet('roll camera'),
}
/** Goats have kids. */
const offspring: Condition = { without: wordSet('goat goats') }
/** One buys time, and what one believes; a car is started. */
const trade: Condition = { notBefore: wordSet('order orders time in into out off up it that this back') }
const beginning: Condition = {
  notBefore: wordSet('up out off over a an the my your his her our their'),
}
const pairs: ReadonlyArray<readonly [one: string, other: string, condition: Condition]> = [
  ['kids', 'children', offspring],
  ['movie', 'film', cinema],
  ['movies', 'films', cinema],
  ['purchase', 'buy', trade],
  ['begin', 'start', beginning],
  ['photograph', 'photo', {}],
  ['photographs', 'photos', {}],
  ['automobile', 'car', { notBefore: wordSet('park parks wash seat boot crash sick') }],
]
const exchanges = new Map(
  pairs.flatMap(([one, other, condition]) => [
    [`${one} ${other}`, condition],
    [`${other} ${one}`, condition],
  ]),
)

/** Whether the tokens at this place of two otherwise equal texts may be exchanged. */
export function isExchange(ours: readonly Token[], theirs: readonly Token[], at: number): boolean {
  const [one, other] = [ours[at], theirs[at]]
  if (one?.kind !== 'word' || other?.kind !== 'word') return false
  const condition = exchanges.get(`${one.key} ${other.key}`)
  if (!condition) return false
  const rest = ours.filter((_, place) => place !== at).map(lowerKey)
  // A text with both words speaks of how they differ; what a word means is asked of that word.
  if (rest.includes(one.key) || rest.includes(other.key) || rest.at(-1) === 'mean') return false
  return (
    !condition.notBefore?.has(lowerKey(ours[at + 1])) &&
    !rest.some(word => condition.without?.has(word)) &&
    (!condition.beside || rest.some(word => condition.beside?.has(word)))
  )
}
