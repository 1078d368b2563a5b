/** Normalizes plain English: letter case, courtesy, contractions, "how do I", calculations, the closing mark. */
import { normalizeCalculation } from './calculation.ts'
import { canContainTitle, isCreatorQuestion, isFormSensitive, isSelfReferential, mayCommand } from './form-sensitive.ts'
import { joinKeys, joinLines } from './join-lines.ts'
import { normalizeLetterCase } from './letter-case.ts'
import { isEnglishWord } from './lexicon.ts'
import * as patterns from './patterns.ts'
import type { Token } from './tokenize.ts'
import { foreignWords, functionWords, questionWords, requestVerbs, sentenceOpeners, wordSet } from './words.ts'

/** Maximum words. Longer texts are documents, which are compared unchanged. */
const MAX_WORDS = 60

/** Returns the normalized text; null for anything but plain English questions and requests. */
export function normalizeEnglish(tokens: readonly Token[]): string | null {
  const sum = tokens.every(({ kind }) => kind !== 'word') ? normalizeCalculation(joinKeys(tokens)) : null
  if (sum !== null) return sum
  if (tokens.length > 2 * MAX_WORDS || !isEnglish(tokens) || isFormSensitive(joinLines(tokens))) return null
  const wished = tokens.map(({ key }) => key.toLowerCase()).join(' ')
  if (patterns.courtesyOnlyPattern.test(wished)) return wished.replace(/^thank you\b/, 'thanks').replace(/ [.!]$/, '')
  const sentence = normalizeLetterCase(tokens).join(' ').replace(patterns.abbreviationPattern, '$1 ')
  const isTitled = canContainTitle(sentence.toLowerCase().split(' '))
  const trimmed = trimCourtesy(sentence)
  const rest = isTitled && !isCreatorQuestion(trimmed) ? sentence : trimmed
  return isSelfReferential(rest) || isStatement(rest) || presentsSentences(rest) ? null : normalizeAsked(rest, isTitled)
}

function isEnglish(tokens: readonly Token[]): boolean {
  const words = tokens.filter(({ kind }) => kind === 'word').map(({ key }) => key)
  if (words.length > MAX_WORDS || words.some(word => foreignWords.has(word) || /[^A-Za-z'-]/.test(word))) return false
  const known = words.filter(word => isKnown(word.toLowerCase()))
  // A few words in another language may all be English ones, too.
  const hasSmallWord = words.some(
    word => functionWords.has(word.toLowerCase()) || sentenceOpeners.has(word.toLowerCase()),
  )
  return known.length > 0 && known.length >= words.length * (hasSmallWord ? 0.5 : 0.66)
}

function isKnown(lower: string): boolean {
  return functionWords.has(lower) || sentenceOpeners.has(lower) || lower.includes("'") || isEnglishWord(lower)
}

/** Removes courtesy at both ends, unless nothing that asks would be left. */
function trimCourtesy(sentence: string): string {
  let rest = sentence
  for (let before = ''; before !== rest; ) {
    before = rest
    for (const pattern of [patterns.greetingPattern, ...patterns.fillerPatterns]) rest = strip(rest, pattern)
    if (rest !== before) rest = lowerOpener(rest)
  }
  return trimThanks(isStatement(rest) ? sentence : rest)
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

function trimThanks(sentence: string): string {
  const thanked = sentence.replace(patterns.closingThanksPattern, found =>
    /^ [,.]/.test(found) ? '' : found.slice(0, 2).trimEnd(),
  )
  const ended = thanked.trim() === '' ? sentence : thanked
  const [found = ''] = patterns.closingPleasePattern.exec(ended) ?? []
  // "Yes Please" is a title.
  if (found === '' || found.length === ended.length || /[A-Z]/.test(found)) return ended
  const before = ended.slice(0, -found.length)
  if (!/^ [,.!?]/.test(found) && patterns.literalPleasePattern.test(before)) return ended
  return before + (found.endsWith('?') || /^ \?/.test(found) ? ' ?' : '')
}

/** A question without a mark inside a text: "debit card stolen, am i liable". */
const inversion =
  /\b(?:is|are|am|was|were|do|does|did|can|could|should|would|will|must|may|has|have) (?:i|it|you|he|she|we|they|there|the|this|that|my|your|a|an)\b/

/** Words with which a text without any question or request is a statement: "I am tired". A noun phrase, "flu symptoms", asks. */
const statementWords = wordSet(
  "i i'm i've i'd we he she they you it is are was were am be been has have had do did will",
)

function isStatement(text: string): boolean {
  const words = text.toLowerCase().split(' ')
  const asks =
    words.some(word => word === '?' || questionWords.has(word)) ||
    isRequestLike(text) ||
    inversion.test(text.toLowerCase())
  return !asks && words.some(word => statementWords.has(word))
}

/** Returns whether a command comes before other sentences, which may be its material: "Count the words. It is late." */
function presentsSentences(text: string): boolean {
  return / [.?!] [^.?!]/.test(text) && mayCommand(text.split(' ')[0]?.toLowerCase() ?? '')
}

/** Returns whether the sentence begins like a question or a request. "Please don't go" does not. */
function isRequestLike(sentence: string): boolean {
  const [first = ''] = sentence.split(' ')
  const lower = first.toLowerCase()
  return sentenceOpeners.has(lower) && !lower.endsWith("n't")
}

function normalizeAsked(text: string, isTitled: boolean): string {
  if (/ [.?!] [^.?!]/.test(text)) return text.split(' ').some(word => requestVerbs.has(word)) ? text : expand(text)
  const bare = trimClosingMark(text, isRequestLike(text))
  if (bare.split(' ').length < 2 && /[.?!]/.test(text)) return text
  const [first = '', ...rest] = bare.split(' ')
  const spoken = isTitled || isMentioned(bare) ? [expand(`${first} `).trimEnd(), ...rest].join(' ') : expand(bare)
  const [pattern, instead] = patterns.methodRule
  return normalizeCalculation(spoken) ?? spoken.replace(pattern, instead)
}

function expand(sentence: string): string {
  return patterns.contractionRules.reduce((written, [pattern, full]) => written.replace(pattern, full), sentence)
}

/** Returns whether the sentence asks about a contraction: "when do I use it's", "its or it's". */
function isMentioned(sentence: string): boolean {
  return /(?:(?:^| )(?:not|or|versus|vs|between|uses?|used|using|than|write|type|put|with|for|from|into|by|about|like|of|is|are|was|were|do|does|did|can) \w+'\w)|\w'\w+ (?:or|versus|vs|and)\b|(?:'s|'re|'m|'ve|'ll)$|\b(?:mean|means|meaning|meant)$/.test(
    sentence,
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
