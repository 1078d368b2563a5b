/** Normalizes questions about relations and attributes: "the difference between", "the advantages of". */
import { indexPhrases, lowerKey, matchPhrase } from '../../phrases.ts'
import { phraseList, replaceWords, rewrite, type Token, wordSet } from '../../token.ts'
import { markDropped } from './dropped.ts'
import { openNouns, relationNouns } from './frame-words.ts'

/** Relations that do not depend on the order. */
const symmetric = wordSet('difference differences relationship relationships relation similarity similarities')
const definite = wordSet('my this that these those each above given listed')
const exampleFrames = indexPhrases(
  phraseList(`
  give examples of
  give some examples of
  give me examples of
  give me some examples of
  list examples of
  list some examples of
  name some examples of
  what are examples of
  what are some examples of
  what are the examples of
`),
)

/** Handles "What is (the) difference between …", "what are (some of the) advantages of …", "give me some examples of …". */
export function writeRelation(tokens: readonly Token[]): readonly Token[] {
  const examples = matchPhrase(exampleFrames, tokens, 0)
  if (examples > 0) {
    const frame = replaceWords(tokens.slice(0, examples), ['what', 'are', 'examples', 'of'], 'question-frame')
    return [...frame, ...tokens.slice(examples)]
  }
  if (lowerKey(tokens[0]) !== 'what' || !/^(?:is|are)$/.test(lowerKey(tokens[1]))) return tokens
  const from = startOfRelation(tokens)
  const at = tokens.findIndex((token, place) => place >= from && relationNouns.has(lowerKey(token)))
  const noun = tokens[at]
  if (!noun || at > from + 1 || !/^(?:of|between|in|for)$/.test(lowerKey(tokens[at + 1]))) return tokens
  // "What is cause for concern" asks for something else.
  if (lowerKey(tokens[1]) === 'is' && /^(?:in|for)$/.test(lowerKey(tokens[at + 1])) && noun.key !== 'reason')
    return tokens
  // "What are some planets" asks for fewer than "what are the planets". Of advantages there is no complete list.
  if (lowerKey(tokens[2]) === 'some' && !(openNouns.has(noun.key) && lowerKey(tokens[1]) === 'are')) return tokens
  // "The three causes", "the examples in chapter 2", "the effects of this" mean particular ones.
  if (from > 2 && tokens.slice(from).some(({ kind, key }) => kind === 'number' || definite.has(key.toLowerCase())))
    return tokens
  const kept = markDropped(tokens.slice(from), from > 2 ? 'frame-word' : null)
  const isSymmetric = symmetric.has(noun.key) && lowerKey(tokens[at + 1]) === 'between' && at === from
  if (!isSymmetric) return [...tokens.slice(0, 2), ...kept]
  const isDifference = noun.key.startsWith('difference')
  return [
    ...tokens.slice(0, 1),
    ...tokens.slice(1, 2).map(verb => (isDifference ? rewrite(verb, 'is', 'inflection') : verb)),
    ...kept.slice(0, 1).map(token => (isDifference ? rewrite(token, 'difference', 'inflection') : token)),
    ...kept.slice(1, 2),
    ...writeSides(kept.slice(2)),
  ]
}

/** Index after "the", "some", "some of the". */
function startOfRelation(tokens: readonly Token[]): number {
  const opening = [2, 3, 4].map(at => lowerKey(tokens[at])).join(' ')
  if (opening === 'some of the') return 5
  return /^(?:the|some)$/.test(lowerKey(tokens[2])) ? 3 : 2
}

/**
 * Sorts the sides of "between a CV and a resume", because their order does not matter. It does between numbers, or if more words follow.
 */
function writeSides(tokens: readonly Token[]): readonly Token[] {
  const sides = writeGeneric(splitSides(tokens)?.map(dropIndefinite))
  const and = tokens.find(token => token.key === 'and')
  if (!sides || !and || !sides.every(isNamedSide)) return tokens
  const texts = sides.map(side => side.map(token => token.key).join(' '))
  // "A cold and cold": the question is about the article.
  if (new Set(texts.map(text => text.toLowerCase())).size < texts.length) return tokens
  const sorted = texts
    .map((text, at) => ({ text, side: sides[at] ?? [] }))
    .toSorted((one, other) => (one.text < other.text ? -1 : 1))
  const isMoved = sorted.some(({ text }, at) => text !== texts[at])
  return sorted.flatMap(({ side }, at) => [
    ...(at > 0 ? [and] : []),
    ...(isMoved ? markDropped(side, 'question-frame') : side),
  ])
}

/** Splits "A and B", "A, B and C"; null when it is no such list. */
function splitSides(tokens: readonly Token[]): (readonly Token[])[] | null {
  const last = tokens.findLastIndex(token => token.key === 'and')
  if (last === -1 || tokens.findIndex(token => token.key === 'and') !== last) return null
  const sides: Token[][] = [[]]
  for (const token of tokens.slice(0, last)) {
    if (token.kind === 'mark' && token.key === ',') sides.push([])
    else sides.at(-1)?.push(token)
  }
  return [...sides.filter((side, at) => side.length > 0 || at < sides.length - 1), tokens.slice(last + 1)]
}

/** Plurals with another meaning than their singular. */
const pluralsApart = wordSet(`
  customs duties arms goods spirits forces glasses scales means terms manners looks contents damages securities futures odds interests
  minutes lights letters numbers waters woods sands brains wages remains works premises quarters talks shorts trousers jeans pants clothes
  savings earnings returns yields greens blues darts falls rapids dominos checkers chips crisps pools news physics mathematics economics statistics politics ethics gymnastics mechanics electronics
`)
const plural = /^[a-z]{3,}[^aius]s$/

/** "Cats and dogs", in general, becomes "a cat and a dog". */
function writeGeneric(sides: (readonly Token[])[] | undefined): (readonly Token[])[] | undefined {
  const isPlural = ({ key }: Token) =>
    plural.test(key) && !/(?:ss|ies|[cs]hes|[sxz]es)$/.test(key) && !pluralsApart.has(key)
  const heads = sides?.map(side => side.at(-1)) ?? []
  if (!sides || !heads.every(head => head !== undefined && isPlural(head))) return sides
  return sides.map(side =>
    side.map((token, at) => (at === side.length - 1 ? rewrite(token, token.key.slice(0, -1), 'inflection') : token)),
  )
}

/** One of which is something else than the stuff: a lamb, an iron, a paper. */
const massNouns = wordSet(`
  iron glass paper chicken turkey lamb duck fish salmon light sound work coffee tea time space change company art language beer water wine
  cake will stone rock hair egg onion business law love life death room experience country cloth wood oak copper tin nickel
`)

function dropIndefinite(side: readonly Token[]): readonly Token[] {
  const isApart = side.length === 2 && massNouns.has(side[1]?.key ?? '')
  const hasArticle =
    !isApart && side.length > 1 && /^an?$/.test(side[0]?.key ?? '') && !/^(?:few|little|lot)$/.test(side[1]?.key ?? '')
  return hasArticle ? markDropped(side.slice(1), 'frame-word') : side
}

const notInSides = wordSet(
  'and or in of for on to at by with from the when if as between versus vs me him her them us you it i',
)

function isNamedSide(side: readonly Token[]): boolean {
  const isNamed = (token: Token) => (token.kind === 'word' || token.kind === 'name') && !notInSides.has(lowerKey(token))
  return side.length > 0 && side.length <= 3 && side.every(isNamed)
}
