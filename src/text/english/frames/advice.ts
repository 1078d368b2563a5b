/**
 * Normalizes questions for an opinion on the best of a kind: "which is the best book", "what was the funniest joke you have ever heard".
 */
import { lowerKey, startsWith } from '../../phrases.ts'
import { rewrite, type Token, wordSet } from '../../token.ts'
import { auxiliaries } from '../openers.ts'
import { markDropped } from './dropped.ts'
import { advisedNouns } from './frame-words.ts'

const beforeComplement = wordSet(
  'for to in of on at by with from that which you i we they he she to ever under about near around and or when while if',
)
/** Superlatives of opinion: "the funniest joke" and "the funniest jokes" have the same answer. "The oldest bank" is one bank. */
const opinions = wordSet(`
  best worst funniest creepiest scariest weirdest saddest coolest cutest craziest strangest silliest dumbest stupidest nicest toughest hardest
`)
const opinionAdjectives = wordSet(`
  beautiful embarrassing inspiring inspirational interesting emotional useful amazing romantic memorable disturbing satisfying annoying
  exciting heartbreaking hilarious underrated overrated creative awesome horrible terrible boring motivational fascinating
`)
const speakers = wordSet('you i we they he she')
/** Participles that are also past tense: "you ever heard" means "you have heard". */
const participles = wordSet(
  'heard read had made received met bought got watched visited used tried learned eaten played told said found tasted experienced',
)

/** "Which is the best book", "what are some of the best books", "which book is the best" all ask for a recommendation. */
export function writeAdvice(tokens: readonly Token[]): readonly Token[] {
  const [asked, verb] = tokens
  if (!asked || !verb || !/^(?:what|which)$/.test(lowerKey(asked))) return tokens
  const isConditional = startsWith(tokens, 1, ['would', 'be'])
  // "What was the best book you have ever read" includes the present.
  const isPerfect = /^(?:was|were)$/.test(lowerKey(verb)) && tokens.some((_, at) => isSpeakerOfPerfect(tokens, at))
  if (!isConditional && !isPerfect && !/^(?:is|are)$/.test(lowerKey(verb))) return writeChoice(writeAdviceOf(tokens))
  const start = isConditional ? 3 : 2
  if (/^your favou?rites?$/.test(`${lowerKey(tokens[start])} ${lowerKey(tokens[start + 1])}`))
    return [rewrite(asked, 'what', 'question-frame'), ...tokens.slice(1)]
  const article = ['some of the', 'the']
    .map(phrase => phrase.split(' '))
    .find(words => startsWith(tokens, start, words))
  const from = start + (article?.length ?? 0)
  const length = superlativeAt(tokens, from)
  if (length === 0 || tokens.length < from + length + 1) return tokens
  const end = tokens.findIndex(
    (token, at) => at >= from + length && (token.kind === 'mark' || beforeComplement.has(lowerKey(token))),
  )
  const head = (end === -1 ? tokens.length : end) - 1
  const noun = tokens[head]
  const between = tokens.slice(from + length, Math.max(head, from + length))
  const isOneOfKind = noun && head >= from + length && !(/^games?$/.test(noun.key) && between.some(isOfName))
  const single = isOneOfKind ? advisedNouns.get(noun.key) : undefined
  const copula = isConditional || isPerfect ? rewrite(verb, 'is', 'question-frame') : verb
  const kept = writeSuperlative(tokens.slice(from, from + length), article !== undefined)
  if (!noun || single === undefined) {
    return article?.length === 3 && lowerKey(verb) !== 'are'
      ? tokens
      : [rewrite(asked, 'what', 'question-frame'), copula, ...kept, ...tokens.slice(from + length)]
  }
  return [
    rewrite(asked, 'what', 'question-frame'),
    rewrite(copula, 'is', 'inflection'),
    ...kept,
    ...tokens.slice(from + length, head),
    rewrite(noun, single, 'inflection'),
    ...writeExperienceOf(tokens.slice(head + 1)),
  ]
}

/** "The best Olympic games" is not about games. */
function isOfName({ key }: Token): boolean {
  return /^\p{Lu}\p{Ll}/u.test(key) || /^(?:olympic|hunger|mind|head|war|ball|asian|commonwealth)$/.test(key)
}

/** Number of tokens from `at` on that form a superlative of opinion; 0 when there is none. */
function superlativeAt(tokens: readonly Token[], at: number): number {
  if (opinions.has(lowerKey(tokens[at]))) return 1
  return lowerKey(tokens[at]) === 'most' && opinionAdjectives.has(lowerKey(tokens[at + 1])) ? 2 : 0
}

function writeSuperlative(tokens: readonly Token[], hasArticle: boolean): Token[] {
  const [first, ...rest] = tokens
  if (!first) return []
  return markDropped(
    [rewrite(first, first.key.toLowerCase(), 'sentence-capital'), ...rest],
    hasArticle ? 'frame-word' : null,
  )
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

/** "What country has the best …", "which country has best …". */
function writeChoice(tokens: readonly Token[]): readonly Token[] {
  const [asked, noun, verb, ...rest] = tokens
  if (!asked || !noun || !verb || !advisedNouns.has(noun.key) || !auxiliaries.has(lowerKey(verb))) return tokens
  const hasArticle = /^ha(?:s|ve)$/.test(verb.key) && lowerKey(rest[0]) === 'the' && superlativeAt(rest, 1) > 0
  return [
    rewrite(asked, 'which', 'question-frame'),
    noun,
    verb,
    ...(hasArticle ? markDropped(rest.slice(1), 'frame-word') : rest),
  ]
}

function isSpeakerOfPerfect(tokens: readonly Token[], at: number): boolean {
  return speakers.has(lowerKey(tokens[at])) && lowerKey(tokens[at + 1]) === 'have'
}

/** "The best joke (that) you have (ever) heard", "the best joke you ever heard". */
function writeExperienceOf(tokens: readonly Token[]): readonly Token[] {
  const hasRelative = /^(?:that|which)$/.test(lowerKey(tokens[0])) && speakers.has(lowerKey(tokens[1]))
  return (hasRelative ? markDropped(tokens.slice(1), 'frame-word') : tokens).flatMap((token, at, all) => {
    const before = lowerKey(all[at - 1])
    const isOfLife = at === 0 && token.key === 'in' && /^(?:my|your) life$/.test(all.slice(1).map(lowerKey).join(' '))
    if (isOfLife) return [rewrite(token, 'of', 'frame-word')]
    if (token.key !== 'ever') return all[at - 1]?.key === 'ever' ? markDropped([token], 'frame-word') : [token]
    if (at === 0 || before === 'have') return []
    return speakers.has(before) && participles.has(lowerKey(all[at + 1]))
      ? [rewrite(token, 'have', 'frame-word')]
      : [token]
  })
}
