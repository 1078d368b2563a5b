/** Takes a plain question apart: how it asks, the words it is about, and the small words that turn its sense. */
import { isWord, type Lemma, lemmasOf, mayBeName, measureOf } from '../../text/lexicon.ts'
import { isTechnical, mayHoldTitle } from '../../text/protected.ts'
import { wordSet } from '../../text/words.ts'

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
const optional = wordSet("a an the some any is are am that which there ever 's really actually basically please also")
const small = wordSet(`
  be been being do does of in on at to for by with without from into onto and or this these those it its i me my mine myself you your yours yourself our ours us we one so as can will shall
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

const agents = '(?:i|you|one)'
/** Forms of one question; the first that fits is cut off. */
const frames: ReadonlyArray<readonly [pattern: RegExp, frame: string]> = [
  [/^(?:what (?:is it|does it feel)(?: feel)? like|how does it feel(?: like)?) to /, 'like'],
  [
    new RegExp(
      `^how (?:to|(?:do|can|could|should|would|does) ${agents})(?: (?:go about|best|actually|properly|really))? (?=[a-z])`,
    ),
    'how',
  ],
  [
    /^what (?:is|are|would be)(?: the| a| an| some(?: of the)?| any)?(?: (?:best|good|right|proper|correct|most effective|effective|great|better|ideal))* (?:ways?|steps|methods?|process|procedures?|techniques?|tips|approach|means)(?: (?:that|by which) i can| i can)? (?:to|of|for|on) (?=[a-z])/,
    'how',
  ],
  [
    /^(?:is|are) there (?:a|an|any|some)(?: (?:good|best|easy|quick|simple|proper))? (?:ways?|methods?|means|possibility) (?:to|of|for) (?=[a-z])/,
    'how',
  ],
  [/^what (?:are the )?steps (?:do|should|must|can) i (?:follow|take) (?:in order )?to /, 'how'],
  [
    new RegExp(
      `^what (?:can|should|could|do|must|would) ${agents} (?:(?:have|need) to )?do(?: in order)? to (?=[a-z])`,
    ),
    'how',
  ],
  [/^i (?:want|need|would like) to (?:know how to |learn how to )?(?=[a-z])/, 'how'],
  [/^in (?:what|which) (?:way|ways|manner) (?:can|do|should|could) i /, 'how'],
  [
    /^what (?:is|are|was|were) (?:the )?(?:(?:main|real|actual|exact|possible) )?(?:reasons?|causes?) (?:why|that|for which|behind(?: the fact that)?) /,
    'why',
  ],
  [/^(?:for )?what reasons? (?:do|does|is|are|did) /, 'why'],
  [/^why (?:is|are|do|does|did|was|were|can|should|would|have|has) /, 'why'],
  [/^(?:in |on )?(?:what|which) (?:year|date) (?:was|were|did|is|does) /, 'when'],
  [/^(?:in |at )?(?:what|which) (?:places?|location|country|city) (?:is|are|do|does|was|were|can) /, 'where'],
  [/^where (?:do|can|could|should|would) (?:i|one|you|someone|people) /, 'where'],
  [/^where (?:will|is|are|does|do|can|was|were|did) /, 'where is'],
  [/^when (?:is|are|do|does|did|was|were) /, 'when'],
  [
    /^how (?:many|much|long|old|far|often|big|tall|high|fast|deep|large|heavy|wide|good|bad|hard|easy|safe|difficult|important|expensive|likely|accurate|effective|true) /,
    '',
  ],
  [/^how (?:is|are|do|does|did|was|were|can|will|would|should|come) /, 'how is'],
  [
    /^(?:what|who) (?:is|are|was|were|would be|will be)(?: the| a| an| some(?: of the)?| any)?(?: (?:different|various)(?= ))?(?: (?:best|good|great|top|most popular)(?= ))? /,
    'what',
  ],
  [
    /^(?:explain|describe|define|list|name|state|discuss|give(?: me)?|suggest|recommend|mention)(?: the| a| an| some(?: of the)?)?(?: (?:best|good|great|top)(?= ))? /,
    'what',
  ],
  [/^(?:what|which) /, 'what'],
  [/^(?:do|does|did) /, 'do'],
  [/^(?:is|are|can|will|has|have|was|were|should|could|would|may|must) /, 'whether'],
  [/^who /, 'who'],
]

/** Questions with a form of their own, written like others. */
const rewrites: ReadonlyArray<readonly [pattern: RegExp, instead: string]> = [
  [/^how much (?:does|would|will) ((?:the|a|an|your) .+) cost$/, 'what is cost of $1'],
  [/^what (?:does|would|will) ((?:the|a|an|your) .+) cost$/, 'what is cost of $1'],
  [/^what is (?:the )?price of (?=(?:the|a|an|your) )/, 'what is cost of '],
  [/^how do (.+ and .+) differ$/, 'what is difference between $1'],
  [/^how (?:is|are) (.+) different from (.+)$/, 'what is difference between $1 and $2'],
  [/^what are (?:the )?differences between /, 'what is difference between '],
  [/^what (?:is|are) (?:the )?reasons? (?:that|why|for which) (.+) (is|are) ([a-z]+)$/, 'why $2 $1 $3'],
  [/^what ([a-z]+(?: [a-z]+)?) (?:is|are) (?:the )?best(?= for | to | in |$)/, 'what is best $1'],
  [/^(?:what|how) is (?!it )(.+) like (?=in )/, 'how is $1 '],
  [/^(?:in )?(?:what|which) year (?=was |were |did )/, 'when '],
  [/^who (?:was|were) (.+) ([a-z]+ed|written|sung|built|made|drawn) by$/, 'who $2 $1'],
  [
    /^who (?:is|was) (?:the )?(paint|invent|found|creat|direct|compos|discover|develop|design)(?:er|or) of (.+)$/,
    'who $1ed $2',
  ],
]

/** "How tall is the tower" asks for its height. */
function writeMeasure(sentence: string): string {
  const [found, adjective = '', thing = ''] = /^how ([a-z]+) (?:is|are) (.+)$/.exec(sentence) ?? []
  const measure = found === undefined ? null : measureOf(adjective)
  return measure === null ? sentence : `what is ${measure} of ${thing}`
}

/** Takes apart what was normalized as an English question; or says why it is no plain one. */
export function takeQuestionApart(normalized: string): Question | Plainness {
  return takeApart(writeAlike(normalized))
}

/** Writes what is one question in one way. */
function writeAlike(normalized: string): string {
  const sentence = normalized
    .replace(/ \? (?:why(?: or why not)?|how|and why)(?: \?)?$/i, '')
    .replace(/ [?.!]$/, '')
    .replace(/^(?!.*\b(?:whether|if|yes|no)\b)(.*?)(?: ,)? (?:or not|and why)$/, '$1')
    .replace(/(?<=\p{L})-(?=\p{L})/gu, ' ')
    .replace(/'s?(?= |$)/g, " 's")
  return writeMeasure(rewrites.reduce((written, [pattern, instead]) => written.replace(pattern, instead), sentence))
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
    if (isOptional || /^(?:my|your|one's)$/.test(word) || (selves.has(word) && word === 'their')) {
      if (/^(?:an?|the|my|your)$/.test(word)) article = word.slice(0, 1)
      continue
    }
    if (small.has(word) || word === ',' || word === 'a' || (frame === 'how' && alike.has(word)))
      before.push(selves.has(word) ? 'self' : (alike.get(word) ?? word))
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
  if (mayHoldTitle(lower) || isTechnical(lower)) return words
  return words.map((word, at) => {
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
}
const anySelf = wordSet('i me my myself you your yourself one oneself')
const nobody = wordSet('')

/** What a question's first words say of time and possibility. */
const tenses =
  / ?\b(?:was|were|did|had|could|should|would(?! be)|may|might|must|will(?! be)|can|best|good|great|top|most popular)\b/g
const quality = /best|good|great|top|popular/

function cutFrame(sentence: string): [frame: string, rest: string, asker: string] {
  for (const [pattern, frame] of frames) {
    const [found] = pattern.exec(sentence) ?? []
    if (found === undefined) continue
    // What is measured stays: "how tall is", "how much does".
    const measured = frame === '' ? found.trim().split(' ').slice(0, 2).join(' ') : frame
    // "The best joke that you have heard" reaches to the present, whether it is or was.
    const isPerfect = /\byou have\b/.test(sentence)
    const tense =
      /^(?:how|where)$/.test(frame) || isPerfect
        ? ''
        : (found.match(tenses) ?? []).map(word => (quality.test(word) ? ' best' : word)).join('')
    const rest = sentence.slice(found.length)
    if (frame === 'how' && !lemmasOf(rest.split(' ')[0] ?? '').some(({ kind }) => kind === 'v')) continue
    return [`${measured}${tense}`, rest, / (i|you|one) /.exec(found)?.[1] ?? '']
  }
  return ['', sentence, '']
}

/** Whether a word says little by itself. */
export function isSmallWord(word: string): boolean {
  return small.has(word) || optional.has(word)
}
