/** Normalizes letter case where that does not change the meaning: at the start of a sentence, in an upper-case prompt, in unambiguous names. */

import { isTechnical } from './form-sensitive.ts'
import {
  canBeProperNoun,
  isAcronym,
  isEnglishWord,
  isProgramName,
  isTwoWordName,
  isUnambiguousName,
  lemmasOf,
  usualSpellingOf,
} from './lexicon.ts'
import type { Token } from './tokenize.ts'
import { auxiliaries, capitalise, functionWords, sentenceOpeners, wordSet } from './words.ts'

/** Words after which "i" is a symbol, such as electric current or a number. */
const beforeSymbol = wordSet(`
  is are does has the a an of for in to with by on like equals = between find calculate compute solve measure derive define type part
  class phase war grade vitamin group number
`)
/** Words of texts about formulas or programs: "can i be negative". */
const besideSymbol = wordSet(`
  loop loops array arrays index indices integer matrix complex imaginary negative positive zero squared equal equals exponent vector sum
`)
/** Words that an identifier follows: "import html" and "import HTML" differ. */
const beforeIdentifier = wordSet(
  'import imports require include includes new class def function const let var module namespace struct enum extends package keyword',
)

/** Returns the tokens' keys with normalized case. Quotations, code and measures stay unchanged. */
export function normalizeLetterCase(written: readonly Token[]): string[] {
  const tokens = applyUsualCase(written)
  return tokens.map((token, at) => {
    if (token.kind !== 'word') return token.key
    const lower = token.key.toLowerCase()
    if (isProgram(tokens, at, lower)) return capitalise(lower)
    if (token.key === lower || isEmphasis(tokens, at)) return lower
    if (/^I(?:'|$)/.test(token.key)) return isSymbol(tokens, at) ? token.key : lower
    const isOpening = at === 0 || /^[.?!]$/.test(tokens[at - 1]?.key ?? '')
    const isSmall =
      (isOpening && isLowerCaseOpener(token.key, at === 0)) || isStrayCapital(tokens, at) || endsName(tokens, at)
    return isSmall || isNameAlone(tokens, at) ? lower : token.key
  })
}

/** Writes names in their usual case if the text has no capitals, only capitals, or one on every word, as its case has no meaning then. */
function applyUsualCase(tokens: readonly Token[]): readonly Token[] {
  const words = tokens.flatMap(({ kind, key }) => (kind === 'word' ? [key] : []))
  const isSmallText = tokens.every(({ kind, key }) => kind === 'quotation' || isSmall(key) || /^I(?:'|$)/.test(key))
  const isTitled = !isSmallText && isTitle(words)
  if (!isSmallText && !isTitled && !isAllCapitals(words)) return tokens
  const lower = tokens.map(({ key }) => key.toLowerCase())
  return tokens.map((token, at) =>
    token.kind !== 'word' || (isTitled && isLoud(token)) || (lower[at] === 'i' && isSymbol(tokens, at))
      ? token
      : { ...token, key: usualKey(lower, at) },
  )
}

/** Returns whether the text is in capitals, with at least two words and a question word. */
function isAllCapitals(words: readonly string[]): boolean {
  return (
    words.length > 1 &&
    words.every(word => word === word.toUpperCase()) &&
    words.some(word => sentenceOpeners.has(word.toLowerCase()))
  )
}

/** Returns whether the text is in title case: "Why Is The Sky Blue". Only small words may be in lower case. */
function isTitle(words: readonly string[]): boolean {
  return (
    !/^(?:Will|May|Who)$/.test(words.at(-1) ?? '') &&
    words
      .slice(1, -1)
      .some(word => /^(?!Will|May|Who)[A-Z][a-z]/.test(word) && functionWords.has(word.toLowerCase())) &&
    words.every((word, at) => !isSmall(word) || (at > 0 && functionWords.has(word)))
  )
}

/** Returns the usual case of a word: "Turkey" for "turkey", but not in "a turkey" or "5 mw". "The us" is the US. */
function usualKey(lower: readonly string[], at: number): string {
  const [before = '', whole = '', next = ''] = [lower[at - 1], lower[at], lower[at + 1]]
  const word = whole.replace(/'s$/, '')
  if (functionWords.has(word) || sentenceOpeners.has(word))
    return /^(?:an?|the)$/.test(before) && isAcronym(word) ? whole.toUpperCase() : whole
  const isPart = isTwoWordName(`${word} ${next}`) || isTwoWordName(`${before} ${word}`)
  if (!isPart && (beforeIdentifier.has(before) || /^\d/.test(before))) return whole
  const usual = isPart ? capitalise(word) : usualSpellingOf(word)
  const isCommon = !isPart && /^an?$/.test(before) && usual !== usual.toUpperCase() && isEnglishWord(word)
  return isCommon ? whole : usual + whole.slice(word.length)
}

/** Returns whether a capitalised first word means the same in lower case: "Boiling point", but not "Polish food". */
function isLowerCaseOpener(word: string, isFirst: boolean): boolean {
  const lower = word.toLowerCase()
  if (word[0] === lower[0] || word.slice(1) !== lower.slice(1)) return false
  if (sentenceOpeners.has(lower) || functionWords.has(lower)) return true
  return isFirst && isEnglishWord(lower) && !canBeProperNoun(lower)
}

/** Returns whether capitals only emphasize: "WHAT IS the capital", "THE best"; not "Is IT hard", "compare AND with OR". */
function isEmphasis(tokens: readonly Token[], at: number): boolean {
  if (!isLoud(tokens[at])) return false
  const [lower = '', next = ''] = tokens.slice(at, at + 2).map(({ key }) => key.toLowerCase())
  if (!(functionWords.has(lower) || sentenceOpeners.has(lower))) return false
  if (tokens.slice(0, at).every(isLoud))
    return sentenceOpeners.has(lower) && (at > 0 || lower !== 'who' || auxiliaries.has(next))
  // "What is THE best way", but "CAN bus", "what is a DO", "compare AND with OR".
  return (
    /^(?:the|my|your|best|most|very|really)$/.test(lower) && !isTechnical(tokens.map(({ key }) => key.toLowerCase()))
  )
}

function isLoud({ kind, key }: Pick<Token, 'kind' | 'key'> = { kind: 'mark', key: '' }): boolean {
  return kind === 'word' && key.length > 1 && key === key.toUpperCase()
}

/** Returns whether a single capital has no meaning: "What is The best way". Beside another capital, it may be part of a title. */
function isStrayCapital(tokens: readonly Token[], at: number): boolean {
  const { key = '' } = tokens[at] ?? {}
  if (at === 1 && isDefined(tokens)) return true
  if (!/^(?:The|And|Of|For|With|From|Best|Good|Is|Are|To|In)$/.test(key)) return false
  const [before, next] = [tokens[at - 1], tokens[at + 1]]
  return (
    at > 0 &&
    next?.kind === 'word' &&
    isSmall(next.key) &&
    (at === 1 || (before?.kind === 'word' && isSmall(before.key)))
  )
}

/** Returns whether the text asks for a definition, whose capital has no meaning: "Define Entropy". */
function isDefined([first, second, ...rest]: readonly Token[]): boolean {
  const lower = second?.key.toLowerCase() ?? ''
  const isOnly = /^define$/i.test(first?.key ?? '') && rest.every(({ kind }) => kind === 'mark')
  return (
    isOnly &&
    second?.key === capitalise(lower) &&
    isEnglishWord(lower) &&
    !canBeProperNoun(lower) &&
    usualSpellingOf(lower) === lower
  )
}

function isSmall(word: string): boolean {
  return word === word.toLowerCase()
}

/** Returns whether the word is an unambiguous name in its usual case: "France", "HTML", "JavaScript", but not "fRance". */
function isNameAlone(tokens: readonly Token[], at: number): boolean {
  const { key = '' } = tokens[at] ?? {}
  const lower = key.toLowerCase().replace(/'s$/, '')
  if (key.length < 3 || key === lower || functionWords.has(lower) || !isUnambiguousName(lower)) return false
  const before = tokens[at - 1]?.key.toLowerCase() ?? ''
  const isCapitals = key === key.toUpperCase() && isAcronym(lower)
  // "An Einstein", "a Panama" mean something else; "what does Marx mean" asks about a person.
  if (
    beforeIdentifier.has(before) ||
    (/^an?$/.test(before) && !isCapitals) ||
    tokens.some(token => /^(?:mean|defin)/i.test(token.key))
  )
    return false
  const bare = key.replace(/'s$/, '')
  const isCapitalised = bare.slice(1) === lower.slice(1) && !isAcronym(lower)
  return isCapitalised || bare === bare.toUpperCase() || innerCapital.test(bare)
}

/** Returns whether the word ends a name that begins with another name: "Berlin Wall". */
function endsName(tokens: readonly Token[], at: number): boolean {
  const { key = '' } = tokens[at] ?? {}
  if (at === 0 || !/^[A-Z][a-z]/.test(key) || tokens[at - 1]?.key.endsWith("'s")) return false
  return isNameAlone(tokens, at - 1) && isEnglishWord(key.toLowerCase())
}

/** Returns whether the word is a program's name: in "use git", but not in "a git" or "your git". */
function isProgram(tokens: readonly Token[], at: number, lower: string): boolean {
  const before = tokens[at - 1]?.key.toLowerCase() ?? 'a'
  return isProgramName(lower) && !isLoud(tokens[at]) && !counting.test(before)
}

const counting = /^(?:an?|the|th(?:is|at|ose)|my|your|his|her|our|their|one|any|every|no|such|\d+)$/

/** "JavaScript", "GitHub", "iPhone", "MySQL", "ChatGPT", "eBay". */
const innerCapital = /^(?:[A-Z][a-z]+[A-Z][a-z]+|[a-z]{1,2}[A-Z][a-z]+|[A-Z][a-z]{1,6}[A-Z]{2,4}|[a-z]{1,2}[A-Z]{2})$/

function isSymbol(sentence: readonly Token[], at: number): boolean {
  if (sentence[at]?.key !== 'I') return false
  const [before, next] = [sentence[at - 1]?.key.toLowerCase() ?? '', sentence[at + 1]]
  // An "I" between a helping verb and a verb is the asker: "how do I sort an array".
  if (beforeAsker.test(before) && next?.kind === 'word' && next.key !== 'be' && isVerb(next.key.toLowerCase()))
    return false
  const ends = next === undefined || next.kind === 'mark' || next.kind === 'operator'
  const isValue = next?.key === 'be' && sentence[at + 2]?.kind === 'number'
  if (isValue || sentence.some(({ key }) => besideSymbol.has(key.toLowerCase()))) return true
  return beforeSymbol.has(before) || (ends && !auxiliaries.has(before))
}

/** Helping verbs that stand before "I", unlike "does". */
const beforeAsker = /^(?:do|did|can|could|should|would|will|must|may|might|shall)$/

function isVerb(word: string): boolean {
  return lemmasOf(word).some(({ kind, form }) => kind === 'v' && form === 'plain')
}
