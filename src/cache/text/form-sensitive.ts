/** Finds texts in which letter case, marks or exact words may matter: about wording, themselves, works with titles, or programs. */
import { countSenses } from './lexicon.ts'
import type { Token } from './tokenize.ts'
import { requestVerbs, sentenceOpeners, wordSet } from './words.ts'

/** Words of prompts about wording, which are compared unchanged. */
const wordingWords = wordSet(`
  translate translates translated translating translation translations rewrite rewrites rewritten rewriting rephrase rephrased reword reworded
  paraphrase paraphrased paraphrasing proofread proofreading grammar grammatical grammatically ungrammatical spell spells spelled spelt spelling
  words character characters bytes capitals greetings misspelled misspelt pronounce pronounced pronounces pronunciation letters sentence sentences syllable syllables vowel vowels consonant consonants
  capital-letter capitalize capitalise capitalized capitalised capitalization capitalisation uppercase lowercase titlecase casing lowercased
  uppercased punctuation punctuate punctuated comma commas apostrophe apostrophes hyphen hyphens hyphenated semicolon typo typos rhyme rhymes
  rhyming anagram anagrams palindrome palindromes repeat repeats repeated echo verbatim following regex md5 sha256 sha1 base64 encode encoded
  decode decoded ascii unicode utf-8 tokenize caps prompt prompts wordle scrabble autocorrect case-sensitive case-insensitive emoji emojis
  transcribe transcript contraction contractions homophone homophones correct
`)
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
  /\b(?:did|was|were|have|had) i (?:\w+ )?(?:rude|polite|nice|formal|unclear|shouting|yelling|impolite|ask|say|spell|write|type|greet)/,
  /\b(?:do|am) i (?:sound|seem|come across|appear|being|rude|polite|shouting|yelling|nice|formal)\b/,
  /\b(?:my|this|your) (?:prompt|question|message|request|input|query|tone|mood|style|writing|greeting|typing|post|punctuation|wording|text)\b/,
  // Not "improve my English", which is a skill.
  /\bthis english\b|(?<!\b(?:improv|learn|practi[cs]|polish|perfect|develop|enhanc|strengthen|boost)(?:e|ing)? )\b(?:my|your) english\b/,
  /\b(?:is|was|are|does|did|do|should|must|could|would|can|will|has) this\b/,
  /\b(?:of|in|with) this$/,
  /\b(?:this|that|it) means?$/,
  /\b(?:ask|asks|asked|asking) for (?:the |some |a |an )?\w+$/,
  /\bi (?:just )?(?:said|wrote|typed|asked)\b/,
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

/** Returns whether the text must not be normalized: it is about wording, or presents material after a colon or in lines. */
export function isFormSensitive(tokens: readonly Token[]): boolean {
  const lower = tokens.map(({ key }) => key.toLowerCase())
  const presents = tokens.some(
    ({ kind, key, opensLine }, at) =>
      (opensLine && at > 0) || (kind === 'mark' && (key === ';' || (key === ':' && !isTopic(lower, at)))),
  )
  if (presents || lower.some(word => wordingWords.has(word))) return true
  return isSpacingSensitive(tokens, lower) || isMarkSensitive(tokens, lower)
}

/** Returns whether a topic ends at the colon, which a question follows: "Excel: how do I freeze a row?" "Say: how are you?" has no topic. */
function isTopic(lower: readonly string[], colon: number): boolean {
  const [first = ''] = lower
  return sentenceOpeners.has(lower[colon + 1] ?? '') && !mayCommand(first)
}

/** Returns whether a word at the start of a sentence may be an imperative. */
export function mayCommand(word: string): boolean {
  if (requestVerbs.has(word)) return true
  const isVerb = countSenses(word, 'v') > 0 && countSenses(word, 'v') >= countSenses(word, 'n')
  return isVerb && !programNames.has(word)
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
