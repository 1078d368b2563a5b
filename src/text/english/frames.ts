/** Fixed frames of English questions: different openings that ask the same, and the articles they can do without. */
import { indexPhrases, lowerKey, matchPhrase, startsWith } from '../phrases.ts'
import { type HarmlessKind, phraseList, replaceWords, rewrite, type Token, wordSet } from '../token.ts'
import { advisedNouns, doingVerbs, genericVerbs, relationNouns, unmeant } from './frame-words.ts'

/** Ways to ask for a method; a verb of doing must follow. */
const methodFrames = indexPhrases(
  phraseList(`
  how do i
  how can i
  how do we
  how can we
  how does one
  how can one
  how can you
  how do you
  what is the way to
  what is the best way to
  what is best way to
  what is a way to
  what are ways to
  what are the ways to
  what are some ways to
  what are the best ways to
  what are some of the best ways to
  which is the best way to
`),
)
const firstPerson = wordSet('i me my mine myself we us our ours ourselves')
const anyPerson: ReadonlySet<string> = new Set([
  ...firstPerson,
  'you',
  'your',
  'yours',
  'yourself',
  'one',
  'their',
  'they',
])

/** "How do I reset …" becomes "how to reset …". */
export function writeMethod(tokens: readonly Token[]): readonly Token[] {
  const length = matchPhrase(methodFrames, tokens, 0)
  const verb = lowerKey(tokens[length])
  if (length === 0 || !doingVerbs.has(verb)) return tokens
  const subject = lowerKey(tokens[2])
  const rest = tokens.slice(length).map(lowerKey)
  if (subject === 'you' && (!genericVerbs.has(verb) || rest.some(word => anyPerson.has(word)))) return tokens
  if (/^(?:we|one)$/.test(subject) && rest.some(word => anyPerson.has(word))) return tokens
  return [...replaceWords(tokens.slice(0, length), ['how', 'to'], 'question-frame'), ...tokens.slice(length)]
}

const meaningFrames = indexPhrases(
  phraseList(`
  what is the meaning of
  what is meaning of
  what is meant by
  meaning of
  the meaning of
`),
)

/** "What is the meaning of X" becomes "what does X mean"; X stays as it was written. Null where this is no such question. */
export function writeMeaning(tokens: readonly Token[]): readonly Token[] | null {
  const length = matchPhrase(meaningFrames, tokens, 0)
  const isPlain = length === 0 && startsWith(tokens, 0, ['what', 'does']) && lowerKey(tokens.at(-1)) === 'mean'
  const subject = isPlain ? tokens.slice(2, -1) : length > 0 ? tokens.slice(length) : []
  if (subject.length === 0 || subject.length > 3 || subject.some(isUnmeant)) return null
  if (isPlain) return tokens
  const frame = replaceWords(tokens.slice(0, length), ['what', 'does'], 'question-frame')
  const last = subject.slice(-1)
  return [...frame, ...subject, ...replaceWords(last, ['mean'], 'question-frame')]
}

function isUnmeant(token: Token): boolean {
  return token.kind === 'mark' || unmeant.has(lowerKey(token))
}

const beforeComplement = wordSet(
  'for to in of on at by with from that which you i we to ever under about near around and or when while if',
)

/** "Which is the best book", "what are some of the best books", "which book is the best": a recommendation either way. */
export function writeAdvice(tokens: readonly Token[]): readonly Token[] {
  const [asked, verb] = tokens
  if (!asked || !verb || !/^(?:what|which)$/.test(lowerKey(asked))) return tokens
  if (!/^(?:is|are)$/.test(lowerKey(verb))) return writeAdviceOf(tokens)
  const article = ['some of the', 'the'].map(phrase => phrase.split(' ')).find(words => startsWith(tokens, 2, words))
  const from = 2 + (article?.length ?? 0)
  const best = tokens[from]
  if (!best || lowerKey(best) !== 'best' || tokens.length < from + 2) return tokens
  const end = tokens.findIndex(
    (token, at) => at > from && (token.kind === 'mark' || beforeComplement.has(lowerKey(token))),
  )
  const head = (end === -1 ? tokens.length : end) - 1
  const noun = tokens[head]
  const single = noun && advisedNouns.get(noun.key)
  const kept = markDropped([rewrite(best, 'best', 'sentence-capital')], article ? 'frame-word' : null)
  if (!noun || single === undefined) {
    return article?.length === 3 && lowerKey(verb) !== 'are'
      ? tokens
      : [asked, verb, ...kept, ...tokens.slice(from + 1)]
  }
  return [
    rewrite(asked, 'what', 'question-frame'),
    rewrite(verb, 'is', 'inflection'),
    ...kept,
    ...tokens.slice(from + 1, head),
    rewrite(noun, single, 'inflection'),
    ...dropEver(tokens.slice(head + 1)),
  ]
}

/** "Which book is (the) best …". */
function writeAdviceOf(tokens: readonly Token[]): readonly Token[] {
  const [asked, noun, verb] = tokens
  const at = lowerKey(tokens[3]) === 'the' ? 4 : 3
  const best = tokens[at]
  const single = noun && advisedNouns.get(noun.key)
  if (!asked || !noun || !verb || !best || single === undefined || lowerKey(best) !== 'best') return tokens
  const rest = tokens.slice(at + 1)
  const isAgreed = /^(?:is|are)$/.test(lowerKey(verb)) && rest.length > 0 && /^(?:for|to|in)$/.test(lowerKey(rest[0]))
  if (!isAgreed) return tokens
  return [
    rewrite(asked, 'what', 'question-frame'),
    rewrite(verb, 'is', 'inflection'),
    ...markDropped([best], 'question-frame'),
    rewrite(noun, single, 'inflection'),
    ...rest,
  ]
}

/** "The best joke you have (ever) heard". */
function dropEver(tokens: readonly Token[]): readonly Token[] {
  return tokens.flatMap((token, at) => {
    const isLoose = token.key === 'ever' && (at === 0 || lowerKey(tokens[at - 1]) === 'have')
    if (isLoose) return []
    return tokens[at - 1]?.key === 'ever' ? markDropped([token], 'frame-word') : [token]
  })
}

function markDropped(tokens: readonly Token[], kind: HarmlessKind | null): Token[] {
  return tokens.map((token, at) => (at === 0 && kind ? { ...token, rewritten: [...token.rewritten, kind] } : token))
}

/** "What is (the) difference between …", "what are (the) advantages of …". */
export function writeRelation(tokens: readonly Token[]): readonly Token[] {
  if (lowerKey(tokens[0]) !== 'what' || !/^(?:is|are)$/.test(lowerKey(tokens[1]))) return tokens
  const from = lowerKey(tokens[2]) === 'the' ? 3 : 2
  const at = tokens.findIndex((token, place) => place >= from && relationNouns.has(lowerKey(token)))
  const noun = tokens[at]
  if (!noun || at > from + 1 || !/^(?:of|between|in|for)$/.test(lowerKey(tokens[at + 1]))) return tokens
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

const costFrame = indexPhrases(['what is the cost of', 'what is cost of'])

/** "How much does X cost", "what does X cost": "what is the cost of X". */
export function writeCost(tokens: readonly Token[]): readonly Token[] {
  const length = matchPhrase(costFrame, tokens, 0)
  const frame = ['what', 'is', 'cost', 'of']
  if (length > 0) return [...replaceWords(tokens.slice(0, length), frame, 'question-frame'), ...tokens.slice(length)]
  const opening = ['how much does', 'how much do', 'what does', 'what do'].map(phrase => phrase.split(' '))
  const found = opening.find(words => startsWith(tokens, 0, words))
  const verb = tokens.findIndex(token => lowerKey(token) === 'cost')
  if (!found || verb <= found.length || lowerKey(tokens[found.length]) === 'it') return tokens
  const priced = [...tokens.slice(found.length, verb), ...tokens.slice(verb + 1)]
  return [...replaceWords(tokens.slice(0, found.length), frame, 'question-frame'), ...priced]
}

const feelFrames = indexPhrases([
  'what does it feel like to',
  'how does it feel to',
  'how does it feel like to',
  'what is it like to',
  'how is it to',
  'how is it like to',
])

/** "How does it feel to live …": "what is it like to live …". */
export function writeExperience(tokens: readonly Token[]): readonly Token[] {
  const length = matchPhrase(feelFrames, tokens, 0)
  if (length === 0) return tokens
  const frame = replaceWords(tokens.slice(0, length), ['what', 'is', 'it', 'like', 'to'], 'question-frame')
  return [...frame, ...tokens.slice(length)]
}
