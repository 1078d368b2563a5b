/** Parses plain questions into a frame, content words, and the small words that change the meaning. */

import { canContainTitle, isTechnical } from '../text/form-sensitive.ts'
import {
  canBeProperNoun,
  countSenses,
  isEnglishWord,
  isNounOfKind,
  type Lemma,
  lemmasOf,
  type PartOfSpeech,
} from '../text/lexicon.ts'
import { wordMap, wordSet } from '../text/words.ts'
import { canonicalizeQuestion, splitQuestionFrame } from './question-forms.ts'
import { normalizeSpelling } from './spelling.ts'

export interface ParsedQuestion {
  /** The form of the question: "how to", "what", "why". */
  readonly frame: string
  readonly words: readonly ContentWord[]
  /** The small words after the last content word. */
  readonly tail: string
  /** True when the question covers all time: "the funniest joke ever". */
  readonly coversAllTime: boolean
}

export interface ContentWord {
  readonly text: string
  /** The base forms that the word may have. Empty for an unknown word. */
  readonly lemmas: readonly Lemma[]
  /** The small words before the word, without articles. They change the meaning, such as who does what to whom, where and when. */
  readonly before: string
  /** The article before the word, or a possessive that adds little: "the", "my". Otherwise empty. */
  readonly article: string
  /** True when the word is treated as a noun. A preposition after a verb belongs to the verb: "search for", "turn in". */
  readonly isNoun: boolean
}

/** The reason why a text is not a plain question. */
export type UnsupportedQuestionReason = 'prose' | 'wording' | 'short'

/** Optional small words. All other small words count, at their position. */
const optional = wordSet("a an the any is are am that which there ever 's really actually basically please also")
/** Words that express number or time in a yes-no question: "do any birds", "will we ever". */
const quantifying = wordSet('any ever')
const small = wordSet(`
  some any ever is are be been being become becoming do does a of in on at to for by with without from into onto and or this these those it its i me my mine myself you your yours yourself our ours us we one so as can will shall
  there not no never none nor neither nothing nobody cannot hardly except excluding unless instead
  all each every both either only many few several more less least enough too almost nearly exactly about just even again still already yet other another
  same different else first second third last next previous once twice most per
  using before after over under against than between until till since during off up down out above below inside outside because if when while whether although but via through
  upon toward towards across along around behind near within
  could may might must should would did was were had has have ought
  he him his she her hers they them their theirs himself herself themselves who whom whose what why how where anyone everyone everybody anybody someone somebody
`)

/** Questions about wording. They match only equal normalized texts. */
const wording =
  /\b(?:words?|letters?|spell(?:ed|ing)?|sentences?|phrases?|capital letters?|lowercase|uppercase|comma|punctuation|grammar|pronounce|translat\w*|rhymes?|quotes?|apostrophe|hyphen|noun|verb|plural|polite(?:ly)?|rude|formal|informal|tone|prompt|message|lyrics|titled?|syllables?|characters?|rephrase|rewrite|proofread|paraphrase|said|called|named|stands? for|full form|acronym|abbreviation|synonyms?|antonyms?|opposite)\b/
/** One sentence of words, names and numbers with their signs, without code, quotations or line breaks. */
const plain = /^[\p{Script=Latin}\d' .,/+#%$€£-]+$/u
const MAX_WORDS = 30

/** Statements about the writer, followed by a question. */
const statementThenQuestion = /^((?:(?:i|we|my|our) [^.?!]+ [.!] )+)([^.?!]+(?: [?])?)$/

/** Parses a normalized English question. Returns the reason if it is not plain. Statements before the question are part of the frame. */
export function parseQuestion(normalized: string): ParsedQuestion | UnsupportedQuestionReason {
  const [, lead = '', asked = normalized] = statementThenQuestion.exec(normalized) ?? []
  const question = parseSentence(canonicalizeQuestion(asked))
  return typeof question === 'string' ? question : { ...question, frame: lead + question.frame }
}

function parseSentence(sentence: string): ParsedQuestion | UnsupportedQuestionReason {
  if (wording.test(sentence)) return 'wording'
  if (!plain.test(sentence) || / [.]|(?:^| )(?!a |i )\p{L}(?: |$)/u.test(`${sentence} `)) return 'prose'
  const [frame, rest, subject] = splitQuestionFrame(sentence)
  const all = normalizeCapitals(rest.split(' '), frame.endsWith(' best'))
  if (all.length > MAX_WORDS) return 'prose'
  const { words, tail } = parseWords(
    all,
    frame,
    frame === 'how' ? (selfPronounsBySubject[subject] ?? allSelfPronouns) : noPronouns,
  )
  const coversAllTime = / (?:ever|you have)(?: |$)/.test(rest)
  const isPractice = subject === 'you' && frame === 'how' && isPracticeQuestion(words)
  return words.length === 0 ? 'short' : { frame: isPractice ? 'how you' : frame, words, tail, coversAllTime }
}

/** Returns whether "how do you" asks for the addressee's practice, as in "how do you handle returns", and not for a method. */
function isPracticeQuestion([, object, ...more]: readonly ContentWord[]): boolean {
  if (!object || more.length > 0 || object.before !== '' || object.article !== '') return false
  const nouns = object.lemmas.filter(({ kind }) => kind === 'n')
  return nouns.length > 0 && !nouns.some(({ word }) => isNounOfKind(word))
}

function parseWords(
  all: readonly string[],
  frame: string,
  selfPronouns: ReadonlySet<string>,
): Pick<ParsedQuestion, 'words' | 'tail'> {
  const words: ContentWord[] = []
  let before: string[] = []
  let article = ''
  for (const [at, word] of all.entries()) {
    if (isOmitted(all, at, frame) || isRedundantPossessive(all, at, frame === 'how' ? selfPronouns : null))
      article = articles.has(word) ? word.replace(/^an$/, 'a') : article
    else if (small.has(word) || word === ',') {
      const isAfterNoun = before.length === 0 && words.at(-1)?.isNoun === true
      before.push(
        selfPronouns.has(word) ? 'self' : normalizeSmallWord(isAfterNoun ? prepositionAfterNoun(all, at) : word, frame),
      )
    } else {
      const text = frame === 'how' && words.length === 0 ? baseOfVerb(word) : word
      const isObject = frame === 'how' && words.length > 0 && before.length === 0
      const isName = isObject || /^wh(?:at|o)/.test(frame) || isNoun(word, before.at(-1), article)
      words.push({ text, lemmas: lemmasOf(word), before: before.join(' '), article, isNoun: isName })
      before = []
      article = ''
    }
  }
  return { words, tail: before.join(' ') }
}

function isOmitted(all: readonly string[], at: number, frame: string): boolean {
  const [before = '', word = '', next = ''] = [all[at - 1], all[at], all[at + 1]]
  // "A few" and "few" differ, and so do "people are left" and "people left", "which shops are open" and "which shops open".
  if (word === 'a' && /^(?:few|little|lot|bit)$/.test(next)) return false
  if (/^(?:is|are)$/.test(word) && at > 0 && !frame.startsWith('why')) {
    return !isVerb(all.slice(at + 1).find(each => !optional.has(each)) ?? '')
  }
  // "Is there a gold standard", but "how many are there".
  if (word === 'there') return at > 1
  if (frame === '' && quantifying.has(word)) return before === 'there'
  if (word === 'so') return /^why(?: is)?$/.test(frame) && !/^(?:much|many|few|little)$/.test(next)
  return optional.has(word)
}

function isVerb(word: string): boolean {
  return lemmasOf(word).some(({ kind, form }) => kind === 'v' && /^(?:plain|d)$/.test(form))
}

function normalizeSmallWord(word: string, frame: string): string {
  return frame === 'how' && becomeForms.has(word) ? 'be' : (agreementForms.get(word) ?? word)
}

const capitalised = /^[A-Z][a-z]+$/

/** Lowers capitals without meaning: "Security Plugin". Capitals stay where they may form a name, a title, a program or a lexicon name. */
function normalizeCapitals(words: readonly string[], isOfBest: boolean): readonly string[] {
  const lower = words.map(word => word.toLowerCase())
  if (isTechnical(lower)) return words
  const spelled = words.map(word => (/^[a-z]/.test(word) ? normalizeSpelling(word) : word))
  if (canContainTitle(lower) || /(?:^| )The [A-Z]/.test(words.join(' '))) return spelled
  return spelled.map((word, at) => {
    const small = lower[at] ?? word
    const isBeside = [words[at - 1], words[at + 1]].some(each => each !== undefined && capitalised.test(each))
    // Two capitalised words form a name, "Stack Overflow", except in "your New Year", "the best Photo Editor", "World War II".
    const isEmphasis = isBeside ? isOfBest || isDetermined(words, at) : !canBeProperNoun(small)
    return capitalised.test(word) && isEnglishWord(small) && isEmphasis ? small : word
  })
}

/** Returns whether "a" or "my" precedes the capitals at `at`, or a Roman numeral follows them. */
function isDetermined(words: readonly string[], at: number): boolean {
  const start = words.findLastIndex((word, place) => place < at && !capitalised.test(word))
  const behind = words.find((word, place) => place > at && !capitalised.test(word)) ?? ''
  return /^(?:an?|my|your)$/.test(words[start] ?? '') || /^[IVX]{2,}$/.test(behind)
}

/** Replaces prepositions that add little after a noun: "the limits in human rights", "books on history", "friends on Reddit". */
function prepositionAfterNoun(all: readonly string[], at: number): string {
  const word = all[at] ?? ''
  if (word === 'in' || word === 'at') return 'of'
  if (word !== 'on') return word
  const next = all.slice(at + 1).find(each => !optional.has(each) && !owners.has(each)) ?? ''
  return lemmasOf(next.toLowerCase()).length === 0 ? 'of' : 'about'
}

const owners = wordSet("my your one's their")
const articles = wordSet(`a an the ${[...owners].join(' ')}`)
const persons = wordMap('my i|your you')

/**
 * Returns whether a possessive adds nothing. It usually counts: "what is an IP address", "what is my IP address". It adds nothing in a question
 * for a method about something that is not an object, "improve my English", and in phrases such as "the best decision of yours in your life".
 */
function isRedundantPossessive(all: readonly string[], at: number, selfPronouns: ReadonlySet<string> | null): boolean {
  const word = all[at] ?? ''
  if (!owners.has(word)) return false
  if (selfPronouns) return selfPronouns.has(word) && !isNounOfKind(headOf(all, at + 1))
  return (
    all[at - 1] === 'in' && all.some((each, place) => place !== at && (each === word || each === persons.get(word)))
  )
}

/** Returns the head noun of the phrase at `start`: the last word before a small word or an adverb. */
function headOf(all: readonly string[], start: number): string {
  const end = all.findIndex((word, at) => at > start && small.has(word))
  const phrase = all.slice(start, end < 0 ? undefined : end).map(word => lemmasOf(word.toLowerCase()))
  const head = phrase.findLast((lemmas, at) => at === 0 || lemmas.every(({ kind }) => kind !== 'r')) ?? []
  return head.find(({ kind }) => kind === 'n')?.word ?? ''
}

const becomeForms = wordSet('become becoming being')

/** Returns whether a word is a noun, by itself or after an article or a preposition. Many nouns are rarely used as verbs: "dogs", "books". */
function isNoun(word: string, before: string | undefined, article: string): boolean {
  if (article !== '' || /^(?:of|in|on|at|for|by|from|with|without|between|about)$/.test(before ?? '')) return true
  const lemmas = lemmasOf(word.toLowerCase())
  const most = (kind: PartOfSpeech) =>
    Math.max(0, ...lemmas.map(each => (each.kind === kind ? countSenses(each.word, kind) : 0)))
  return most('n') >= RARELY * most('v')
}

/** A noun has at least this many times more senses as a noun than as a verb. */
const RARELY = 3

/** Maps verb forms to one number: "which country has", "which countries have". */
const agreementForms = wordMap('has have|does do|were was|are is')

/** Returns the base form of a gerund: "a way of improving" is a way to improve. */
function baseOfVerb(word: string): string {
  return word.endsWith('ing')
    ? (lemmasOf(word).find(({ kind, form }) => kind === 'v' && form === 'ing')?.word ?? word)
    : word
}

/** Pronouns that refer to the person who follows the method, by the question's subject. */
const selfPronounsBySubject: Readonly<Record<string, ReadonlySet<string>>> = {
  i: wordSet('i me my myself'),
  you: wordSet('you your yourself'),
  one: wordSet("one one's oneself their"),
  someone: wordSet('one oneself their'),
  anyone: wordSet('one oneself their'),
}
const allSelfPronouns = wordSet('i me my myself you your yourself one oneself')
const noPronouns = wordSet('')
