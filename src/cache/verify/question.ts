/** Takes a plain question apart: how it asks, the words it is about, and the small words that turn its sense. */

import { canContainTitle, isTechnical } from '../text/form-sensitive.ts'
import {
  canBeName,
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
  /** How it asks: "how to", "what", "why". */
  readonly frame: string
  readonly words: readonly ContentWord[]
  /** The small words after the last of them. */
  readonly tail: string
  /** Whether it asks for one of all that ever were: "the funniest joke ever". */
  readonly isOfAll: boolean
}

export interface ContentWord {
  readonly text: string
  /** What it may be a form of; empty for an unknown word. */
  readonly lemmas: readonly Lemma[]
  /** The small words before it: they turn the sense, tell who does what to whom, where and when. Articles do not count. */
  readonly before: string
  /** The article before it, or whose it is where that says little: "the", "my". Empty where neither stands there. */
  readonly article: string
  /** Whether it names a thing. Behind a verb, a preposition is part of it: "search for", "turn in". */
  readonly isNoun: boolean
}

/** Why a text is not plain enough. */
export type NotPlainReason = 'prose' | 'wording' | 'short'

/** Small words that may be there or not. All other small words count, in their place. */
const optional = wordSet("a an the any is are am that which there ever 's really actually basically please also")
/** In a question for yes or no these tell how many, and at what time: "do any birds", "will we ever". */
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

/** About wording, or about what changes with time: left to equal normal forms. */
const wording =
  /\b(?:words?|letters?|spell(?:ed|ing)?|sentences?|phrases?|capital letters?|lowercase|uppercase|comma|punctuation|grammar|pronounce|translat\w*|rhymes?|quotes?|apostrophe|hyphen|noun|verb|plural|polite(?:ly)?|rude|formal|informal|tone|prompt|message|lyrics|titled?|syllables?|characters?|rephrase|rewrite|proofread|paraphrase|said|called|named|stands? for|full form|acronym|abbreviation|synonyms?|antonyms?|opposite)\b/
/** One sentence of words, names and numbers, with the signs that these may have in them: no code, quotations, lines. */
const plain = /^[\p{Script=Latin}\d' .,/+#%$€£-]+$/u
const MOST_WORDS = 30

/** What somebody says of himself, and then asks. */
const told = /^((?:(?:i|we|my|our) [^.?!]+ [.!] )+)([^.?!]+(?: [?])?)$/

/** Takes apart what was normalized as an English question; or says why it is no plain one. What is told before it must be the same. */
export function parseQuestion(normalized: string): ParsedQuestion | NotPlainReason {
  const [, lead = '', asked = normalized] = told.exec(normalized) ?? []
  const question = takeApart(canonicalizeQuestion(asked))
  return typeof question === 'string' ? question : { ...question, frame: lead + question.frame }
}

function takeApart(sentence: string): ParsedQuestion | NotPlainReason {
  if (wording.test(sentence)) return 'wording'
  if (!plain.test(sentence) || / [.]|(?:^| )(?!a |i )\p{L}(?: |$)/u.test(`${sentence} `)) return 'prose'
  const [frame, rest, asker] = splitQuestionFrame(sentence)
  const all = writeCapitals(rest.split(' '), frame.endsWith(' best'))
  if (all.length > MOST_WORDS) return 'prose'
  const { words, tail } = readWords(all, frame, frame === 'how' ? (selvesOf[asker] ?? anySelf) : nobody)
  const isOfAll = / (?:ever|you have)(?: |$)/.test(rest)
  const isPractice = asker === 'you' && frame === 'how' && isBareMatter(words)
  return words.length === 0 ? 'short' : { frame: isPractice ? 'how you' : frame, words, tail, isOfAll }
}

/** "How do you handle returns" asks for a practice of one's own; of a thing, of "a" one, or with more said of it, for a method. */
function isBareMatter([, object, ...more]: readonly ContentWord[]): boolean {
  if (!object || more.length > 0 || object.before !== '' || object.article !== '') return false
  const nouns = object.lemmas.filter(({ kind }) => kind === 'n')
  return nouns.length > 0 && !nouns.some(({ word }) => isNounOfKind(word))
}

function readWords(
  all: readonly string[],
  frame: string,
  selves: ReadonlySet<string>,
): Pick<ParsedQuestion, 'words' | 'tail'> {
  const words: ContentWord[] = []
  let before: string[] = []
  let article = ''
  for (const [at, word] of all.entries()) {
    if (isLeftOut(all, at, frame) || isOwnAnyhow(all, at, frame === 'how' ? selves : null))
      article = articles.has(word) ? word.replace(/^an$/, 'a') : article
    else if (small.has(word) || word === ',') {
      const isBehindNoun = before.length === 0 && words.at(-1)?.isNoun === true
      before.push(selves.has(word) ? 'self' : writeSmall(isBehindNoun ? behindNoun(all, at) : word, frame))
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

function isLeftOut(all: readonly string[], at: number, frame: string): boolean {
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

function writeSmall(word: string, frame: string): string {
  return frame === 'how' && becoming.has(word) ? 'be' : (agreeing.get(word) ?? word)
}

const capitalised = /^[A-Z][a-z]+$/

/** "Security Plugin": a capital without reason. It counts where it may make a name, of a work, of a program, or of what the lexicon names. */
function writeCapitals(words: readonly string[], isOfBest: boolean): readonly string[] {
  const lower = words.map(word => word.toLowerCase())
  if (isTechnical(lower)) return words
  const spelled = words.map(word => (/^[a-z]/.test(word) ? normalizeSpelling(word) : word))
  if (canContainTitle(lower) || /(?:^| )The [A-Z]/.test(words.join(' '))) return spelled
  return spelled.map((word, at) => {
    const small = lower[at] ?? word
    const isBeside = [words[at - 1], words[at + 1]].some(each => each !== undefined && capitalised.test(each))
    // Two are a name, "Stack Overflow", but "your New Year", "the best Photo Editor", "World War II".
    const isEmphasis = isBeside ? isOfBest || isDetermined(words, at) : !canBeName(small)
    return capitalised.test(word) && isEnglishWord(small) && isEmphasis ? small : word
  })
}

/** Whether "a" or "my" stands before the capitals at `at`, or a Roman numeral behind them. */
function isDetermined(words: readonly string[], at: number): boolean {
  const start = words.findLastIndex((word, place) => place < at && !capitalised.test(word))
  const behind = words.find((word, place) => place > at && !capitalised.test(word)) ?? ''
  return /^(?:an?|my|your)$/.test(words[start] ?? '') || /^[IVX]{2,}$/.test(behind)
}

/** Behind a noun some say little: "the limits in human rights", "books on history", "friends on Reddit". */
function behindNoun(all: readonly string[], at: number): string {
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
 * Whose something is counts: "what is an IP address", "what is my IP address". But where somebody asks for a method for what is no thing, it is
 * his own anyhow: "improve my English", not "find my phone". And so is what he is "in": "the best decision of yours in your life".
 */
function isOwnAnyhow(all: readonly string[], at: number, selves: ReadonlySet<string> | null): boolean {
  const word = all[at] ?? ''
  if (!owners.has(word)) return false
  if (selves) return selves.has(word) && !isNounOfKind(headOf(all, at + 1))
  return (
    all[at - 1] === 'in' && all.some((each, place) => place !== at && (each === word || each === persons.get(word)))
  )
}

/** The noun that the words from `start` on are about: the last before a small word, or before an adverb. */
function headOf(all: readonly string[], start: number): string {
  const end = all.findIndex((word, at) => at > start && small.has(word))
  const phrase = all.slice(start, end < 0 ? undefined : end).map(word => lemmasOf(word.toLowerCase()))
  const head = phrase.findLast((lemmas, at) => at === 0 || lemmas.every(({ kind }) => kind !== 'r')) ?? []
  return head.find(({ kind }) => kind === 'n')?.word ?? ''
}

const becoming = wordSet('become becoming being')

/** A noun, or what stands behind an article or a preposition. Many nouns are also verbs, but rarely: "dogs", "books". */
function isNoun(word: string, before: string | undefined, article: string): boolean {
  if (article !== '' || /^(?:of|in|on|at|for|by|from|with|without|between|about)$/.test(before ?? '')) return true
  const lemmas = lemmasOf(word.toLowerCase())
  const most = (kind: PartOfSpeech) =>
    Math.max(0, ...lemmas.map(each => (each.kind === kind ? countSenses(each.word, kind) : 0)))
  return most('n') >= RARELY * most('v')
}

/** So many times fewer senses as a verb than as a noun. */
const RARELY = 3

/** Of one and of several: "which country has", "which countries have". */
const agreeing = wordMap('has have|does do|were was|are is')

/** "A way of improving" is a way to improve. */
function baseOfVerb(word: string): string {
  return word.endsWith('ing')
    ? (lemmasOf(word).find(({ kind, form }) => kind === 'v' && form === 'ing')?.word ?? word)
    : word
}

/** In a question for a method, whoever follows it is spoken of, by who asks. */
const selvesOf: Readonly<Record<string, ReadonlySet<string>>> = {
  i: wordSet('i me my myself'),
  you: wordSet('you your yourself'),
  one: wordSet("one one's oneself their"),
  someone: wordSet('one oneself their'),
  anyone: wordSet('one oneself their'),
}
const anySelf = wordSet('i me my myself you your yourself one oneself')
const nobody = wordSet('')
