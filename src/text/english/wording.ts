/** English words that make a prompt about words: its own wording, or that of an attached text, then matters. */
import { wordSet } from '../token.ts'

/** A prompt with one of these is compared unchanged. */
export const wordingWords = wordSet(`
  translate translates translated translating translation translations rewrite rewrites rewritten rewriting rephrase rephrased reword
  reworded paraphrase paraphrased paraphrasing summarize summarise summarized summarised summarizing summarising summary summaries
  proofread proofreading correct corrects corrected correcting correction corrections correctly incorrect incorrectly wrong error errors
  mistake mistakes fix fixed grammar grammatical grammatically ungrammatical syntax
  spell spells spelled spelt spelling misspelled misspelt pronounce pronounced pronounces pronunciation pronounciation
  letter letters word words wording sentence sentences syllable syllables character characters vowel vowels consonant consonants
  capital-letter capitalize capitalise capitalized capitalised capitalization capitalisation uppercase lowercase titlecase casing
  punctuation punctuate punctuated comma commas apostrophe apostrophes hyphen hyphens hyphenated semicolon typo typos
  rhyme rhymes rhyming anagram anagrams palindrome palindromes acronym acronyms abbreviation abbreviations abbreviate abbreviated abbreviates
  contraction contractions synonym synonyms antonym antonyms homophone homophones homograph plural singular noun verb adjective adverb
  tense conjugate conjugation
  repeat repeats repeated echo say says saying quote quotes quoted quotation phrase phrases idiom idioms verbatim literally literal
  text texts paragraph paragraphs passage passages excerpt following below above line lines
  digit digits numeral numerals roman alphabet alphabetical alphabetically alphabetize sort sorted ascending descending order
  string strings substring regex hash md5 sha256 sha1 base64 encode encoded decode decoded ascii unicode utf-8 tokens token tokenize
  formal informal polite politely respond reply replies answer answers answered greeting greetings
  caps capitals prompt prompts anagram wordle scrabble dictionary autocorrect etymology british-english lowercased uppercased bytes byte
  case-sensitive case-insensitive emoji emojis
  exactly transcribe transcript caption captions continue completes
`)

/** With one of these, the amount of white space may matter. */
export const spacingWords = wordSet(`
  space spaces spaced spacing blank blanks gap gaps whitespace tab tabs indent indents indented indentation
`)

/** Phrases in questions about an abbreviation's full form. */
export const formPhrases = [
  'stand for',
  'stands for',
  'stood for',
  'short for',
  'full form',
  'come from',
  'comes from',
  'get its name',
  'got its name',
]

/** With one of these, punctuation marks may be input of a program. */
export const bytesWords = wordSet(
  'escape escaping escaped type typed typing store stored storing search searching google find filter select query',
)

/**
 * A prompt about programs, a variety of English, or something that differs by country ("how many litres are in a gallon"): its spelling
 * and number words may matter.
 */
export const formWords = wordSet(`
  british american americans canadian australian uk us usa english england britain london america canada australia
  css html xml json yaml sql python javascript typescript java rust ruby php perl kotlin swift golang bash shell terminal
  code coding program programming function functions property properties attribute attributes variable variables keyword keywords
  c r lua scala haskell dart julia matlab fortran cobol lisp clojure elixir erlang groovy vba zig ocaml prolog awk sed grep regex vim
  canadians britons australians irish scottish
  gallon gallons pint pints quart quarts ounce ounces ton tons football soccer pants chips biscuit biscuits floor
  powershell zsh mysql postgres postgresql sqlite mongodb oracle redis docker react node latex toml excel print prints echo char literal
  api tag tags parameter parameters command commands class method field flag option selector git linux
`)
