/** Words that may replace one another, once in a text: two names of the same thing, in sentences where they mean that thing. */
import { lowerKey } from '../../text/phrases.ts'
import { type Token, wordSet } from '../../text/token.ts'

interface Condition {
  /** One of these words must be in the text: it shows which meaning applies. */
  readonly beside?: ReadonlySet<string>
  /** None of these words may be in the text. */
  readonly without?: ReadonlySet<string>
  /** Before these words the two are not synonyms. */
  readonly notBefore?: ReadonlySet<string>
}

/** "film" also means a layer, a foil, and what a camera takes. */
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
/** A goat's young are kids, not children. */
const offspring: Condition = { without: wordSet('goat goats') }
/** "buy" also goes with time and with beliefs. */
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

/** Whether the tokens at this position of two otherwise equal texts may replace one another. */
export function isExchange(ours: readonly Token[], theirs: readonly Token[], at: number): boolean {
  const [one, other] = [ours[at], theirs[at]]
  if (one?.kind !== 'word' || other?.kind !== 'word') return false
  const condition = exchanges.get(`${one.key} ${other.key}`)
  if (!condition) return false
  const rest = ours.filter((_, place) => place !== at).map(lowerKey)
  // A text with both words is about their difference. A question about a word's meaning is about that word.
  if (rest.includes(one.key) || rest.includes(other.key) || rest.at(-1) === 'mean') return false
  return (
    !condition.notBefore?.has(lowerKey(ours[at + 1])) &&
    !rest.some(word => condition.without?.has(word)) &&
    (!condition.beside || rest.some(word => condition.beside?.has(word)))
  )
}
