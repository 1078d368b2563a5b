/** Questions for what is between things, or belongs to one: "the difference between", "the advantages of". */
import { lowerKey } from '../../phrases.ts'
import { rewrite, type Token, wordSet } from '../../token.ts'
import { markDropped } from './dropped.ts'
import { relationNouns } from './frame-words.ts'

/** "What is (the) difference between …", "what are (the) advantages of …". */
export function writeRelation(tokens: readonly Token[]): readonly Token[] {
  if (lowerKey(tokens[0]) !== 'what' || !/^(?:is|are)$/.test(lowerKey(tokens[1]))) return tokens
  const from = lowerKey(tokens[2]) === 'the' ? 3 : 2
  const at = tokens.findIndex((token, place) => place >= from && relationNouns.has(lowerKey(token)))
  const noun = tokens[at]
  if (!noun || at > from + 1 || !/^(?:of|between|in|for)$/.test(lowerKey(tokens[at + 1]))) return tokens
  // "What is cause for concern" asks what that is.
  if (lowerKey(tokens[1]) === 'is' && /^(?:in|for)$/.test(lowerKey(tokens[at + 1])) && noun.key !== 'reason')
    return tokens
  const kept = markDropped(tokens.slice(from), from === 3 ? 'frame-word' : null)
  const isDifference = /^differences?$/.test(lowerKey(noun)) && lowerKey(tokens[at + 1]) === 'between' && at === from
  if (!isDifference) return [...tokens.slice(0, 2), ...kept]
  return [
    ...tokens.slice(0, 1),
    ...tokens.slice(1, 2).map(verb => rewrite(verb, 'is', 'inflection')),
    ...kept.slice(0, 1).map(token => rewrite(token, 'difference', 'inflection')),
    ...kept.slice(1, 2),
    ...writeSides(kept.slice(2)),
  ]
}

/** "Between a CV and a resume", "between resume and CV": which comes first says nothing, but between numbers, or where more follows. */
function writeSides(tokens: readonly Token[]): readonly Token[] {
  const middle = tokens.findIndex(token => token.key === 'and')
  const sides = [tokens.slice(0, middle), tokens.slice(middle + 1)].map(dropIndefinite)
  const [one, other] = sides
  const and = tokens[middle]
  if (!one || !other || !and || !sides.every(isNamedSide)) return tokens
  const [first, second] = [one, other].map(side => side.map(token => token.key).join(' '))
  // "A cold and cold": the article is what is asked about.
  if (first?.toLowerCase() === second?.toLowerCase()) return tokens
  if ((first ?? '') <= (second ?? '')) return [...one, and, ...other]
  return [...markDropped(other, 'question-frame'), and, ...markDropped(one, 'question-frame')]
}

function dropIndefinite(side: readonly Token[]): readonly Token[] {
  const hasArticle =
    side.length > 1 && /^an?$/.test(side[0]?.key ?? '') && !/^(?:few|little|lot)$/.test(side[1]?.key ?? '')
  return hasArticle ? markDropped(side.slice(1), 'frame-word') : side
}

const notInSides = wordSet(
  'and or in of for on to at by with from the when if as between versus vs me him her them us you it i',
)

function isNamedSide(side: readonly Token[]): boolean {
  const isNamed = (token: Token) => (token.kind === 'word' || token.kind === 'name') && !notInSides.has(lowerKey(token))
  return side.length > 0 && side.length <= 3 && side.every(isNamed)
}
