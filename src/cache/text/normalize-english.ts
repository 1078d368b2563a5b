/** Normalizes English questions and requests by the table of patterns. */
import { normalizeCalculation } from './calculation.ts'
import { canContainTitle, isCreatorQuestion, isFormSensitive, isSelfReferential } from './form-sensitive.ts'
import { joinKeys, joinLines } from './join-lines.ts'
import { normalizeLetterCase } from './letter-case.ts'
import { isEnglishWord, isNounOfKind, lemmasOf } from './lexicon.ts'
import * as patterns from './patterns.ts'
import type { Token } from './tokenize.ts'
import {
  auxiliaries,
  foreignWords,
  functionWords,
  questionWords,
  requestVerbs,
  sentenceOpeners,
  wordSet,
} from './words.ts'

/** Maximum words. Longer texts are documents, which are compared unchanged. */
const MAX_WORDS = 60

/** Returns the normalized sentence; null for anything but plain English questions and requests. */
export function normalizeEnglish(tokens: readonly Token[]): string | null {
  const sum = tokens.every(({ kind }) => kind !== 'word') ? normalizeCalculation(joinKeys(tokens)) : null
  if (sum !== null) return sum
  if (tokens.length > 2 * MAX_WORDS || !isEnglish(tokens) || isFormSensitive(joinLines(tokens))) return null
  const wished = tokens.map(({ key }) => key.toLowerCase()).join(' ')
  if (patterns.courtesyOnlyPattern.test(wished)) return wished.replace(/^thank you\b/, 'thanks').replace(/ [.!]$/, '')
  const sentence = normalizeLetterCase(tokens).join(' ').replace(patterns.abbreviationPattern, '$1 ')
  const isTitled = canContainTitle(sentence.toLowerCase().split(' '))
  const trimmed = trimCourtesy(sentence)
  const { rest, isInquiry } =
    isTitled && !isCreatorQuestion(trimmed.rest) ? { rest: sentence, isInquiry: false } : trimmed
  if (isSelfReferential(rest)) return null
  return / [.?!] [^.?!]/.test(rest) ? normalizeSentences(rest) : normalizeSentence(rest, { isTitled, isInquiry })
}

function isEnglish(tokens: readonly Token[]): boolean {
  const words = tokens.filter(({ kind }) => kind === 'word').map(({ key }) => key)
  if (words.length > MAX_WORDS || words.some(word => foreignWords.has(word) || /[^A-Za-z'-]/.test(word))) return false
  const known = words.filter(word => isKnown(word.toLowerCase()))
  return words.length > 0 && 2 * known.length >= words.length && known.length > 0
}

function isKnown(lower: string): boolean {
  return functionWords.has(lower) || sentenceOpeners.has(lower) || lower.includes("'") || isEnglishWord(lower)
}

interface Rest {
  rest: string
  /** True when the rest was the object of "tell me". */
  isInquiry: boolean
}

/** Removes courtesy at both ends, unless the rest would not be a question or request. */
function trimCourtesy(sentence: string): Rest {
  let rest = sentence
  let isInquiry = false
  for (let before = ''; before !== rest; ) {
    before = rest
    rest = strip(rest, patterns.greetingPattern)
    const inquiry = stripInquiry(rest)
    isInquiry = inquiry === rest ? isInquiry : true
    rest = inquiry
    for (const filler of patterns.fillerPatterns) rest = strip(rest, filler)
    if (rest !== before) rest = lowerOpener(rest)
    const requested = strip(rest, patterns.politeRequestPattern)
    if (!patterns.abilityConditionPattern.test(requested)) rest = requested
  }
  const opened = isInquiry || isRequestLike(rest) || /^(?:i|i'm|my) [^?]+ [.!] [^?]+\?$/.test(rest) ? rest : sentence
  return { rest: trimThanks(opened === sentence ? sentence : opened), isInquiry: isInquiry && opened !== sentence }
}

/** Lowers the capital of a sentence opener after removed courtesy. */
function lowerOpener(sentence: string): string {
  const [first = ''] = sentence.split(' ')
  const lower = first.toLowerCase()
  return sentenceOpeners.has(lower) && first.slice(1) === lower.slice(1)
    ? lower + sentence.slice(first.length)
    : sentence
}

/** Removes the pattern. It must be in lower case except for its first letter, because capitals may form a title. */
function strip(sentence: string, pattern: RegExp): string {
  const [found = ''] = pattern.exec(sentence) ?? []
  return /[A-Z]/.test(found.slice(1)) ? sentence : sentence.slice(found.length)
}

/** Removes "tell me" before a question or a noun phrase, but not in "tell me a joke" or "do you know Java". */
function stripInquiry(sentence: string): string {
  const [found = ''] = patterns.inquiryPattern.exec(sentence) ?? []
  const rest = strip(sentence, patterns.inquiryPattern)
  if (rest === sentence) return sentence
  const [first = '', second = ''] = rest.split(' ')
  if (/^explain /i.test(found)) return questionWords.has(first) && second !== 'to' ? rest : sentence
  if (questionWords.has(first)) return /^do(?:es)? /.test(found) && second === 'to' ? sentence : rest
  const isTold = /\b(?:tell me|know) $/i.test(found) && !/^(?:do|does) /i.test(found)
  const isNamed = first === 'the' && / of /.test(rest) && !rest.split(' ').some(word => auxiliaries.has(word))
  return isTold && isNamed ? rest : sentence
}

function trimThanks(sentence: string): string {
  const thanked = sentence.replace(patterns.closingThanksPattern, found =>
    /^ [,.]/.test(found) ? '' : found.slice(0, 2).trimEnd(),
  )
  const ended = thanked.trim() === '' ? sentence : thanked
  const [found = ''] = patterns.closingPleasePattern.exec(ended) ?? []
  if (found === '' || found.length === ended.length) return ended
  const before = ended.slice(0, -found.length)
  if (!/^ [,.!?]/.test(found) && patterns.literalPleasePattern.test(before)) return ended
  return before + (found.endsWith('?') || /^ \?/.test(found) ? ' ?' : '')
}

/** Returns whether the sentence begins like a question or a request. "Please don't go" does not. */
function isRequestLike(sentence: string): boolean {
  const [first = ''] = sentence.split(' ')
  const lower = first.toLowerCase()
  return (sentenceOpeners.has(lower) && !lower.endsWith("n't")) || patterns.frontedClausePattern.test(sentence)
}

const firstPersons = wordSet("i i'm i've i'll my we we're we've our")

/** Normalizes several sentences: only questions and statements about the user, because others may be material. */
function normalizeSentences(text: string): string | null {
  const sentences = text.match(/[^.?!]+(?:[.?!] ?)*/g) ?? []
  if (!sentences.some(isRequestLike)) return null
  if (sentences.some(sentence => requestVerbs.has(sentence.split(' ')[0] ?? ''))) return text
  return sentences
    .map(each => (isRequestLike(each) || firstPersons.has(each.split(' ')[0] ?? '') ? expand(each) : each))
    .join('')
}

function expand(sentence: string): string {
  return patterns.contractionRules.reduce((written, [pattern, full]) => written.replace(pattern, full), sentence)
}

function normalizeSentence(
  sentence: string,
  { isTitled, isInquiry }: { isTitled: boolean; isInquiry: boolean },
): string | null {
  const isAsked = isRequestLike(sentence) || isInquiry
  const bare = isInquiry ? sentence.replace(/ [.?!]$/, '') : trimClosingMark(sentence, isAsked)
  if (!isAsked) return normalizeNounPhrase(sentence, bare, isTitled)
  if (bare.split(' ').length < 2 && /[.?!]/.test(sentence)) return sentence
  const [first = '', ...rest] = bare.split(' ')
  const spoken = isTitled || isMentioned(bare) ? [expand(`${first} `).trimEnd(), ...rest].join(' ') : expand(bare)
  const asked = isInquiry ? normalizeInquiry(spoken) : spoken
  return normalizeCalculation(asked) ?? normalizeQuestion(asked)
}

/** Returns whether the sentence asks about a contraction: "when do I use it's", "its or it's". */
function isMentioned(sentence: string): boolean {
  return /(?:(?:^| )(?:not|or|versus|vs|between|uses?|used|using|than|write|type|put|with|for|from|into|by|about|like|of|is|are|was|were|do|does|did|can) \w+'\w)|\w'\w+ (?:or|versus|vs|and)\b|(?:'s|'re|'m|'ve|'ll)$|\b(?:mean|means|meaning|meant)$/.test(
    sentence,
  )
}

function normalizeQuestion(sentence: string): string {
  return patterns.questionRules.reduce((written, [pattern, instead]) => written.replace(pattern, instead), sentence)
}

function normalizeInquiry(sentence: string): string {
  if (/^the /.test(sentence)) return `what is ${sentence}`
  return sentence
    .replace(patterns.indirectQuestionPattern, '$1 $3 $2')
    .trimEnd()
    .replace(patterns.indirectAdverbQuestionPattern, '$1 $3 $2$4')
    .replace(/ {2,}/g, ' ')
    .trimEnd()
}

/** Normalizes a noun phrase that is a question: one with a question mark, or "… of …". */
function normalizeNounPhrase(sentence: string, bare: string, isTitled: boolean): string | null {
  const calculated = normalizeCalculation(bare)
  if (calculated !== null) return calculated
  const written = patterns.nounPhrasePattern.exec(bare)?.[1]
  const words = written?.split(' ') ?? []
  const isNamed =
    (sentence.endsWith(' ?') || / of /.test(bare) || isAttribute(words)) &&
    words.length > 0 &&
    words.every(mayBeOfThing) &&
    isNoun(words)
  if (!isNamed || isTitled || written === undefined) return null
  return normalizeQuestion(`what is ${bare}`)
}

/** Returns whether the phrase names an attribute, such as "flu symptoms" or "Everest height". "Dad jokes" requests items. */
function isAttribute(words: readonly string[]): boolean {
  const head = lemmasOf(words.at(-1) ?? '').find(({ kind }) => kind === 'n')?.word ?? ''
  return words.length > 1 && isNounOfKind(head, ['quality', 'magnitude', 'evidence', 'payment'])
}

const inThings = wordSet('of in the a an for to and between on at from with by')

function mayBeOfThing(word: string): boolean {
  return inThings.has(word) || !(functionWords.has(word) || sentenceOpeners.has(word) || word.includes("'"))
}

/** Returns whether the phrase begins with a noun or a determiner, and not with a verb: "reset password?" asks for something else. */
function isNoun([first = '', second]: readonly string[]): boolean {
  const lemmas = lemmasOf(first)
  const isNamed = second !== undefined && /^(?:of|in)$/.test(second)
  return (
    lemmas.some(({ kind }) => kind === 'n' || kind === 'a') &&
    (isNamed || lemmas[0]?.kind !== 'v') &&
    (isNamed || !lemmas.some(({ kind, form }) => kind === 'v' && form === 'plain'))
  )
}

/** Words that have another meaning with a full stop: 3 in., Co., Sun. */
const abbreviated = wordSet(
  'co in no st dr mr mrs ms jr sr inc ltd corp etc vs jan mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun a p m',
)
const exclaimed = wordSet('explain describe list give show help')

/** Removes the final mark of a question or request, unless it may be an operand, part of a name or the subject. */
function trimClosingMark(sentence: string, isAsked: boolean): string {
  const [found = ''] = /(?<! [.?!])(?: [.?!])+$/.exec(sentence) ?? []
  const bare = sentence.slice(0, sentence.length - found.length)
  const marks = found.replaceAll(' ', '')
  const last = bare.split(' ').at(-1) ?? ''
  if (marks === '' || bare === '' || (!isAsked && marks !== '?')) return sentence
  if (marks.includes('.') && (!/^[.][?]?$/.test(marks) || abbreviated.has(last.toLowerCase()))) return sentence
  if (marks.startsWith('!') && !(exclaimed.has(sentence.split(' ')[0] ?? '') && /^[a-z]+$/.test(last))) return sentence
  const isLoose = /^[A-Za-z'-]{2,}$/.test(last)
  return isLoose || (marks.length === 1 && marks === '?' && !/^[-+×÷*/=]$/.test(last)) ? bare : sentence
}
