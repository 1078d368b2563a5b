/** Finds texts in which letter case, marks or exact words may matter: about wording, themselves, works with titles, or programs. */
import { greetingPattern, inquiryPattern } from './patterns.ts'
import type { Token } from './tokenize.ts'
import { auxiliaries, questionWords, sentenceOpeners, wordSet } from './words.ts'

/** Words of prompts about wording, which are compared unchanged. */
const wordingWords = wordSet(`
  translate translates translated translating translation translations rewrite rewrites rewritten rewriting rephrase rephrased
  reword reworded paraphrase paraphrased paraphrasing summarize summarise summarized summarised summarizing summarising summary
  summaries proofread proofreading correct corrects corrected correcting correction corrections correctly incorrect incorrectly
  grammar grammatical grammatically ungrammatical spell spells spelled spelt spelling misspelled misspelt pronounce pronounced
  pronounces pronunciation pronounciation letters word words wording sentence sentences syllable syllables characters vowel vowels
  consonant consonants capital-letter capitalize capitalise capitalized capitalised capitalization capitalisation uppercase
  lowercase titlecase casing punctuation punctuate punctuated comma commas apostrophe apostrophes hyphen hyphens hyphenated
  semicolon typo typos rhyme rhymes rhyming anagram anagrams palindrome palindromes acronym acronyms abbreviation abbreviations
  abbreviate abbreviated abbreviates contraction contractions synonym synonyms antonym antonyms homophone homophones homograph
  plural singular noun verb adjective adverb tense conjugate conjugation repeat repeats repeated echo say says saying quote quotes
  quoted quotation phrase phrases idiom idioms verbatim literally literal paragraph paragraphs passages excerpt following below
  above digit digits numeral numerals alphabet alphabetical alphabetically alphabetize sorted ascending descending substring regex
  hash md5 sha256 sha1 base64 encode encoded decode decoded ascii unicode utf-8 tokenize formal informal polite politely respond
  reply replies answered greeting greetings caps capitals prompt prompts wordle scrabble dictionary autocorrect etymology
  british-english lowercased uppercased bytes case-sensitive case-insensitive emoji emojis exactly transcribe transcript caption
  captions completes fixed order
`)
/** Words of prompts about wording that also name other things: "merge sort", "a cover letter", "error 404". */
const thingWords = wordSet(`
  letter character string strings token tokens line lines text texts passage byte wrong error errors mistake mistakes answer answers
  fix sort roman syntax continue
`)
/** A question of words, names and numbers only, without single letters and without references. */
const plainQuestion =
  /^(?:(?:what|who|where|when|how|why)(?:'s)?|(?:in )?(?:what|which)|is|are|was|were|do|does|did|can|should|would|will|has|have)(?! you)(?: (?!(?:this|these|following|above|below|[b-hj-z]|an? an?)(?: |$))[a-z\d.-]+)+(?: \?)?$/
/** Questions about a part of a text or an error in it: "the first line", "how many tokens", "is he go wrong", "an error in he go". */
const ofText =
  /\b(?:the|each|every|first|second|third|last|next|many|what|which|capital) (?:letter|character|string|token|line|text|passage|byte)|\b(?:i|you|we|they|to|the) (?:wrong|error|mistake|answer|fix)|\b(?:wrong|an? (?:error|mistake|answer|fix))(?: \?)?$|\b(?:error|mistake|answer)s? to\b|^(?=.*\b(?:wrong|error|mistake|answer|fix)).* (?:or|who|what|when|where|why|how|writ\w+|us(?:e|ing)|put|(?:in|with|on|for|about)(?! (?:my|your|our|the|his|her|their) ))\b/
/** Words of prompts in which the amount of white space may matter. */
const spacingWords = wordSet(
  'space spaces spaced spacing blank blanks gap gaps whitespace tab tabs indent indents indented indentation',
)
/** Words of prompts in which marks may be the input of a program. */
const bytesWords = wordSet(
  'escape escaping escaped type typed typing store stored storing search searching google find filter select query',
)
/** Programming languages, and programs with commands. */
export const programNames = wordSet(`
  css html xml json yaml sql python javascript typescript java rust ruby php perl kotlin swift golang bash shell terminal
  c r lua scala haskell dart julia matlab fortran cobol lisp clojure elixir erlang groovy vba zig ocaml prolog awk sed grep regex vim
  powershell zsh mysql postgres postgresql sqlite mongodb oracle redis docker react node latex toml excel git linux
`)
/** Words of prompts about programs or varieties of English, in which the shape of marks may matter. */
const formWords = wordSet(`
  british american americans canadian australian uk us usa english england britain london america canada australia
  code coding program programming function functions property properties attribute attributes variable variables keyword keywords
  canadians britons australians irish scottish print prints echo char literal
  gallon gallons pint pints quart quarts ounce ounces ton tons football soccer pants chips biscuit biscuits floor
  api tag tags parameter parameters command commands class method field flag option selector
`)
/** Patterns of prompts about themselves, in which a greeting or a punctuation mark changes the answer. */
const aboutItself = [
  /\b(?:did|was|were|have|had) i\b/,
  /\b(?:do|am) i (?:sound|seem|come across|appear|being|rude|polite|shouting|yelling|nice|formal)\b/,
  /^(?:is|are|was|were) my\b|^how(?:'s| is| are| \w+ is) my\b/,
  /\b(?:my|this|your) (?:prompt|question|message|request|input|query|tone|mood|style|writing|greeting|typing|post|punctuation)\b/,
  /\b(?:is|was|are|does|did|do|should|must|could|would|can|will|has) this\b/,
  /\b(?:of|in|with) this$/,
  /\b(?:this|that|it) means?$/,
  /\b(?:ask|asks|asked|asking) for (?:the |some |a |an )?\w+$/,
  /\bi (?:just )?(?:said|wrote|typed|asked|used)\b/,
  /\b(?:periods?|dots?|marks?) at the end\b|\bends? (?:with|in|this)\b|\bquestion marks?\b|\bfull stops?\b/,
  // "How do I end an email? Cheers": courtesy may be the answer, or part of it.
  /\b(?:end|close|finish|sign|start|open|begin)\w* (?:an?|my|the|your) (?:\w+ )?(?:letter|email|e-mail|mail|message|note|conversation|speech)\b/,
]
/** Words about works and their creators, beside which a title may appear, even in lower case. */
const makers = wordSet(`
  sang sings sing sung sung singer lyrics recorded recordings released soundtrack wrote author directed directs
  director starred stars starring star acted actor actors actress cast plays played voiced narrated produced painted composed composer
  composer titled entitled episode episodes season trailer sequel slogan motto said told asked asks goes starts begins
`)
const determiners = wordSet('a an my your our his her their')
const objects = wordSet('me him us them you')
const owned = wordSet('my your our his her an of each every new')

/** Returns whether the text must not be normalized: it is about wording or itself, or presents material after a colon or in lines. */
export function isFormSensitive(tokens: readonly Token[]): boolean {
  const lower = tokens.map(({ key }) => key.toLowerCase())
  const presents = tokens.some(
    ({ kind, key, opensLine }, at) => (kind === 'mark' && /[:;]/.test(key)) || (opensLine && at > 0),
  )
  const isWording =
    lower.some((word, at) => wordingWords.has(word) && !isOrdinary(lower, at)) ||
    (lower.some((word, at) => thingWords.has(word) && !isOrdinary(lower, at)) && !isQuestionAboutThing(lower.join(' ')))
  if (presents || (isWording && !isMethodQuestion(tokens, lower))) return true
  return isSpacingSensitive(tokens, lower) || isMarkSensitive(tokens, lower)
}

function isQuestionAboutThing(sentence: string): boolean {
  const asked = sentence.replace(greetingPattern, '').replace(inquiryPattern, '')
  return plainQuestion.test(asked) && !ofText.test(asked)
}

const method =
  /^(?:in \w+ , )?(?:(?:can|could) you )?(?:(?:please|tell me) )*(?:how (?:do i|can i|to)|(?:what are )?(?:the )?steps to|is there (?:a|any) way to|what (?:is|are) (?:the )?(?:best )?ways? to) (?!(?:say|spell|pronounce|respond|reply|answer|greet|address|sign|end|close|begin|start|open)\b)/

/** Returns whether the text asks for a method about words in general: "how do I sort a list of words". */
function isMethodQuestion(tokens: readonly Token[], lower: readonly string[]): boolean {
  const isPlain = ({ kind, key }: Token, at: number) => /^(?:word|name)$/.test(kind) || key === (at === 2 ? ',' : '?')
  return method.test(`${lower.join(' ')} `) && tokens.every(isPlain) && !lower.includes('this')
}

/** Returns whether a word of wording is used in another sense: "fix a tap", "following me", "in order to", "order a taxi". */
function isOrdinary(lower: readonly string[], at: number): boolean {
  const [before, word, next = ''] = [lower[at - 1], lower[at], lower[at + 1]]
  if (word === 'exactly') return questionWords.has(before ?? '') || next === '' || next === '?'
  if (word === 'following') return objects.has(next)
  if (word === 'order' && ((before === 'in' && next === 'to') || owned.has(before ?? ''))) return true
  if (word !== 'fix' && word !== 'order') return false
  return determiners.has(next) && lower.slice(at + 1).every(each => !auxiliaries.has(each) && !/['"]/.test(each))
}

/** Returns whether the amount and kind of white space matter: "How many spaces are there in a  b". */
function isSpacingSensitive(tokens: readonly Token[], lower: readonly string[]): boolean {
  return lower.some(word => spacingWords.has(word)) && tokens.some(({ isApart }) => isApart)
}

/** Returns whether the text after a colon is only a question, in which white space has no meaning. */
export function isQuestionAfterColon(tokens: readonly Token[]): boolean {
  const lower = tokens.map(({ key }) => key.toLowerCase())
  const start = lower.indexOf(':') + 1
  return (
    start > 1 &&
    sentenceOpeners.has(lower[start] ?? '') &&
    tokens.every(({ kind, opensLine }, at) => at === start || !(opensLine || kind === 'code')) &&
    !isSpacingSensitive(tokens, lower)
  )
}

const spoken = wordSet('mean means meaning meant define definition')

/** Returns whether the kind of quotation marks matters, as in programs and searches, but not in questions about the meaning of words. */
function isMarkSensitive(tokens: readonly Token[], lower: readonly string[]): boolean {
  if (!tokens.some(({ isReshaped }) => isReshaped)) return false
  if (isTechnical(lower) || lower.some(word => bytesWords.has(word))) return true
  return tokens.some(({ kind }) => kind === 'quotation') && !lower.some(word => spoken.has(word) || makers.has(word))
}

/** Returns whether a part of the text may be a title, which may contain courtesy and contractions. */
export function canContainTitle(words: readonly string[]): boolean {
  return words.some(word => makers.has(word))
}

/** Returns whether the sentence asks for a creator: "who painted …". */
export function isCreatorQuestion(sentence: string): boolean {
  const [first = '', ...rest] = sentence.split(' ')
  return first === 'who' && makers.has(rest.find(word => !/^(?:is|was|the)$/.test(word)) ?? '')
}

/** Returns whether the sentence asks about itself: "was I rude?" */
export function isSelfReferential(sentence: string): boolean {
  const prose = sentence.toLowerCase().replace(/ [.,!?]+/g, '')
  return aboutItself.some(pattern => pattern.test(prose))
}

/** Returns whether the text is about programs or a variety of English, in which a capital may be part of a name. */
export function isTechnical(words: readonly string[]): boolean {
  return words.some(word => formWords.has(word) || programNames.has(word))
}
