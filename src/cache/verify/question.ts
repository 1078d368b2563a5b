/** Takes a plain question apart: how it asks, the words it is about, and the small words that turn its sense. */
import { isWord, type Lemma, lemmasOf, mayBeName } from '../../text/lexicon.ts'
import { isTechnical, mayHoldTitle } from '../../text/protected.ts'
import { wordSet } from '../../text/words.ts'
import { cutFrame, writeAlike, writeSpelling } from './forms.ts'

export interface Question {
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
  /** The initial of "a", "the", "my" or "your", if one stands before it. */
  readonly article: string
}

/** Why a text is not plain enough. */
export type Plainness = 'prose' | 'wording' | 'short'

/** Small words that may be there or not. All other small words count, in their place. */
const optional = wordSet("a an the any is are am that which there ever 's really actually basically please also")
const small = wordSet(`
  some be been being do does of in on at to for by with without from into onto and or this these those it its i me my mine myself you your yours yourself our ours us we one so as can will shall
  not no never none nor neither nothing nobody cannot hardly except excluding unless instead
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
/** One sentence of words, names and numbers: no signs, code, units, quotations, lines. */
const plain = /^[\p{Script=Latin}\d' .,-]+$/u
const MOST_WORDS = 30

/** Takes apart what was normalized as an English question; or says why it is no plain one. */
export function takeQuestionApart(normalized: string): Question | Plainness {
  return takeApart(writeAlike(normalized))
}

function takeApart(sentence: string): Question | Plainness {
  if (wording.test(sentence)) return 'wording'
  if (!plain.test(sentence) || / [.]|(?:^| )(?!a |i )\p{L}(?: |$)/u.test(`${sentence} `)) return 'prose'
  const [frame, rest, asker] = cutFrame(sentence)
  const selves = frame === 'how' ? (selvesOf[asker] ?? anySelf) : nobody
  const isOfAll = / (?:ever|you have)(?: |$)/.test(rest)
  const all = writeCapitals(rest.split(' '))
  if (all.length > MOST_WORDS) return 'prose'
  const words: ContentWord[] = []
  let before: string[] = []
  let article = ''
  for (const [at, word] of all.entries()) {
    // "A few" and "few" differ.
    const isOptional = optional.has(word) && !(word === 'a' && /^(?:few|little|lot|bit)$/.test(all[at + 1] ?? ''))
    if (
      isOptional ||
      (/^(?:my|your|one's)$/.test(word) && (frame !== 'how' || selves.has(word))) ||
      (selves.has(word) && word === 'their')
    ) {
      if (/^(?:an?|the|my|your)$/.test(word)) article = word.slice(0, 1)
      continue
    }
    if (small.has(word) || word === ',' || word === 'a' || (frame === 'how' && alike.has(word)))
      before.push(
        selves.has(word) ? 'self' : (agreeing.get(word) ?? (frame === 'how' ? alike.get(word) : undefined) ?? word),
      )
    else {
      words.push({
        text: frame === 'how' && words.length === 0 ? baseOfVerb(word) : word,
        lemmas: lemmasOf(word),
        before: before.join(' '),
        article,
      })
      before = []
      article = ''
    }
  }
  return words.length === 0 ? 'short' : { frame, words, tail: before.join(' '), isOfAll }
}

const capitalised = /^[A-Z][a-z]+$/

/** "Security Plugin": a capital without reason. It counts where it may make a name, of a work, of a program, or of what the lexicon names. */
function writeCapitals(words: readonly string[]): readonly string[] {
  const lower = words.map(word => word.toLowerCase())
  if (mayHoldTitle(lower) || isTechnical(lower) || /(?:^| )The [A-Z]/.test(words.join(' '))) return words
  return words.map(writeSpelling).map((word, at) => {
    const small = lower[at] ?? word
    // Beside another capital it is an emphasis: "New Year", "Data Interpretation".
    const isEmphasis = [words[at - 1], words[at + 1]].some(each => each !== undefined && capitalised.test(each))
    return capitalised.test(word) && isWord(small) && (isEmphasis || !mayBeName(small)) ? small : word
  })
}

/** Small words with one meaning in most places. */
const alike = new Map([
  ['on', 'in'],
  ['at', 'in'],
  ['become', 'be'],
  ['becoming', 'be'],
  ['being', 'be'],
])

/** Of one and of several: "which country has", "which countries have". */
const agreeing = new Map([
  ['has', 'have'],
  ['does', 'do'],
  ['were', 'was'],
])

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
