/** Words that may replace one another, once in a text: two names of the same thing, in sentences where they mean that thing. */
import { functionWords } from '../../text/english/openers.ts'
import { lowerKey } from '../../text/phrases.ts'
import { type Token, wordSet } from '../../text/token.ts'

interface Condition {
  /** One of these words must precede it. Otherwise it may be a verb, or part of a title ("spy kids", "the lego movie"). */
  readonly after?: ReadonlySet<string>
  /** One of these words must be in the text: it shows which meaning applies. */
  readonly beside?: ReadonlySet<string>
  /** None of these words may be in the text. */
  readonly without?: ReadonlySet<string>
  /** Before these words the two are not synonyms. */
  readonly notBefore?: ReadonlySet<string>
  /** Whether it must end its phrase: "a photo" is no "photo finish". */
  readonly isLast?: boolean
}

const owners = 'my your our his her their'
/** "film" also means a layer, a foil, and what a camera takes; award names contain it. */
const cinema: Condition = {
  after: wordSet(`
    a the any ever what which watch see best good great worst funniest favorite favourite horror romantic comedy animated action thriller
    superhero hollywood bollywood american indian english
  `),
  beside: wordSet(`
    watch watched watching see seen ever actor actors actress director directed cinema netflix hollywood bollywood
    horror comedy romantic animated action thriller sci-fi superhero cast sequel trailer subtitles
  `),
  without: wordSet(`
    camera lens lenses window windows glass roll layer screen surface develop plastic negative negatives
    won win wins winner award awards oscar oscars nominated nominees called titled
  `),
  notBefore: wordSet('roll camera'),
}
/** Goats have kids and nodes have children; children who inherit may be adults. */
const offspring: Condition = {
  after: wordSet(`${owners} for have having with teach raise do should can some more two three four five`),
  without: wordSet(`
    goat goats node nodes tree trees process element elements component components react adult adults grown old legal law will inherit
    called named sang song
  `),
  notBefore: wordSet('of in'),
}
/** "buy" also goes with time and with beliefs. */
const trade: Condition = {
  after: wordSet('to i you we can should'),
  without: wordSet('farm'),
  notBefore: wordSet('order orders time in into out off up it that this back him her them me us you'),
}
const beginning: Condition = {
  notBefore: wordSet('up out off over a an the my your his her our their'),
  without: wordSet('transaction server sql command sang sings sing song wrote called'),
  isLast: true,
}
const picture: Condition = { after: wordSet(`a the this with of some take taking ${owners}`), isLast: true }
const vehicle: Condition = { after: wordSet(`a the this ${owners}`), isLast: true }
const pairs: ReadonlyArray<readonly [one: string, other: string, condition: Condition]> = [
  ['kids', 'children', offspring],
  ['movie', 'film', cinema],
  ['movies', 'films', cinema],
  ['purchase', 'buy', trade],
  ['begin', 'start', beginning],
  ['photograph', 'photo', picture],
  ['photographs', 'photos', picture],
  ['automobile', 'car', vehicle],
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
  const next = ours[at + 1]
  return (
    (!condition.after || condition.after.has(lowerKey(ours[at - 1]))) &&
    !condition.notBefore?.has(lowerKey(next)) &&
    (!condition.isLast || endsPhrase(next)) &&
    !rest.some(word => condition.without?.has(word)) &&
    (!condition.beside || rest.some(word => condition.beside?.has(word)))
  )
}

function endsPhrase(next: Token | undefined): boolean {
  return next === undefined || next.kind === 'mark' || next.key.endsWith('ing') || functionWords.has(lowerKey(next))
}
