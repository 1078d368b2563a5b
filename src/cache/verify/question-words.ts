/** Reads a question into words: small words by class, content words by base form and part of speech. Recently read questions are cached. */
import { LRUCache } from 'lru-cache'
import { parseNumberWord } from '../text/calculation.ts'
import { canBeProperNoun, countSenses, isEnglishWord, lemmasOf } from '../text/lexicon.ts'
import { lazily } from '../text/packed-model.ts'
import { wordMap } from '../text/words.ts'
import { toAmerican } from './american-spelling.ts'
import { askedKinds, beforeContractedIs, classOf, contractedWords, expansions, type WordClass } from './word-classes.ts'

/** The part of speech of a content word; `name` for a word that the lexicon does not have. */
export type WordKind = 'n' | 'v' | 'a' | 'r' | 'name' | 'number' | 'small' | 'sign'

export interface QuestionWord {
  /** In lower case. Contractions are two words. Number words are figures. */
  readonly text: string
  readonly base: string
  readonly wordClass: WordClass | undefined
  readonly kind: WordKind
  /** The senses of the base form in the lexicon. Words with many say little. */
  readonly senses: number
  readonly isContent: boolean
  /** True for a capital that says something: not of the first word, nor in a text of capitals. */
  readonly isCapital: boolean
  /** True for a word that means something else, or may be a name, with a capital: "Polish", "US". */
  readonly isCaseSensitive: boolean
  readonly isKnown: boolean
}

export interface Question {
  readonly normalized: string
  readonly words: readonly QuestionWord[]
  /** The positions of the content words. */
  readonly content: readonly number[]
  /** The base forms of the content words. */
  readonly bases: ReadonlySet<string>
  /** The numbers, sorted. */
  readonly numbers: string
  /** The words with digits or signs inside, such as "B12" and "C++", and single letters, sorted. */
  readonly identifiers: string
  /** The single letters after numbers, sorted: "5G", "2h". */
  readonly units: string
  /** The words as they were written, by their lower case. */
  readonly spellings: ReadonlyMap<string, string>
  readonly isNegated: boolean
  /** Sentences that another one follows. */
  readonly sentencesBefore: number
  /** True when the letter case says nothing: no capitals, or only capitals. */
  readonly isCaseless: boolean
  readonly parts: QuestionParts
}

/** What a comparison of the words reads, beyond the laws. */
export interface QuestionParts {
  /** For each word, the classes of the small words between it and the content word before it. */
  readonly slots: readonly ReadonlySet<WordClass>[]
  /** The base forms of each content word and the next one. */
  readonly neighbours: ReadonlySet<string>
  /** The position in `askedKinds` of what is asked for; -1 if nothing says it. */
  readonly asked: number
  /** The share of content words that are neither in the lexicon nor capitalised. */
  readonly unknownShare: number
}

/** Longer texts are not compared. The rest of them is not read. */
const MAX_WORDS = 64
const part =
  /[\p{L}\p{M}]+(?:['’][\p{L}]+)*|(?:(?<![\p{L}\p{N}])[-−](?=[$€£]?\d))?[$€£#]?\d[\p{L}\p{N}]*(?:[.,:/-]\d[\p{L}\p{N}]*)*%?|[^\s\p{L}\p{M}\p{N}]/gu
const punctuation = new Set('.,?!;:"“”‘’\'`()¿¡-–—…[]{}')
/** A word with a digit after a letter, "B12"; one with signs, "C++", "max_size"; a single letter. Not "5mg", which is a number and a unit. */
const identifier =
  /(?<![\p{L}\p{N}'’])(?:\p{L}+\p{N}[\p{L}\p{N}]*|\p{L}[\p{L}\p{N}]*(?:\+\+|#)|[\p{L}\p{N}]+(?:_[\p{L}\p{N}]+)+|(?![aisI])\p{L})(?![\p{L}\p{N}'’])/gu
const unit = /(?<=\p{N})\p{L}(?![\p{L}\p{N}])/gu
/** A number and its unit in one word. */
const measure = /^([-−$€£#]*\d[\d.,:/]*)(\p{L}{1,5})$/u

const recent = new LRUCache<string, Question>({ max: 1_024 })

/** Reads a text, with a cache per owner of `NormalizedPrompt`. */
export function readQuestion(text: string, owner = ''): Question {
  const name = `${owner}\n${text}`
  let question = recent.get(name)
  if (question === undefined) {
    question = parseWords(text)
    recent.set(name, question)
  }
  return question
}

function parseWords(text: string): Question {
  // A capital at the start of a sentence, or of "I", says nothing.
  const letters = text.replace(/(?:^|[.?!] )\p{Lu}|\bI\b|[^\p{L}]/gu, '')
  const isCaseless = letters === letters.toLowerCase() || (letters.length > 3 && letters === letters.toUpperCase())
  const words: QuestionWord[] = []
  let sentencesBefore = 0
  let hasEnded = false
  for (const { 0: written } of text.matchAll(part)) {
    if (punctuation.has(written)) {
      hasEnded ||= /[.?!]/.test(written)
      continue
    }
    if (hasEnded) sentencesBefore += 1
    hasEnded = false
    for (const word of splitWord(written.replaceAll('’', "'").toLowerCase()))
      words.push(classify(word, written, { isFirst: words.length === 0, isCaseless }))
    if (words.length > MAX_WORDS) break
  }
  const content = words.flatMap(({ isContent }, at) => (isContent ? [at] : []))
  const baseAt = (at: number) => words[at]?.base ?? ''
  // Most candidates break a law or share too few words: the rest is read for a comparison only.
  const parts = lazily(() => readParts(words, content))
  return {
    normalized: text,
    words,
    content,
    bases: new Set(content.map(baseAt)),
    numbers: words
      .filter(({ kind }) => kind === 'number')
      .map(word => word.text)
      .sort()
      .join(' '),
    identifiers: (text.match(identifier) ?? []).sort().join(' '),
    units: (text.match(unit) ?? []).sort().join(' '),
    spellings: new Map((text.match(/\p{L}+/gu) ?? []).map(word => [word.toLowerCase(), word])),
    isNegated: words.some(({ wordClass }) => wordClass === 'not'),
    sentencesBefore,
    isCaseless,
    get parts() {
      return parts()
    },
  }
}

function readParts(words: readonly QuestionWord[], content: readonly number[]): QuestionParts {
  const read = ` ${words.map(word => word.text).join(' ')} `
  const unknown = content.filter(at => !words[at]?.isKnown && !words[at]?.isCapital)
  return {
    slots: words.map((_, at) => smallWordsBefore(words, at)),
    neighbours: new Set(content.slice(1).map((at, k) => `${words[content[k] ?? 0]?.base} ${words[at]?.base}`)),
    asked: askedKinds.findIndex(phrases => phrases.some(phrase => read.includes(phrase))),
    unknownShare: unknown.length / Math.max(1, content.length),
  }
}

function smallWordsBefore(words: readonly QuestionWord[], at: number): ReadonlySet<WordClass> {
  const found = new Set<WordClass>()
  for (let before = at - 1; words[before]?.isContent === false; before -= 1) {
    const { wordClass } = words[before] ?? {}
    if (wordClass) found.add(wordClass)
  }
  return found
}

/** Splits a number from its unit, and a contraction: "what's" is "what is", "Anna's" has an owner. */
function splitWord(lower: string): readonly string[] {
  const [, figure, unit] = /^\d+(?:st|nd|rd|th)$/.test(lower) ? [] : (measure.exec(lower) ?? [])
  if (figure !== undefined && unit !== undefined) return [figure, unit]
  const known = expansions.get(lower)
  if (known) return known
  if (lower.endsWith("n't")) return [lower.slice(0, -3), 'not']
  const at = lower.indexOf("'")
  if (at <= 0) return [lower]
  const [head, tail] = [lower.slice(0, at), lower.slice(at + 1)]
  if (tail === 's') return [head, beforeContractedIs.has(head) ? 'is' : "'s"]
  const word = contractedWords.get(tail)
  return word === undefined ? [lower] : [head, word]
}

const ranks = wordMap('1st first|2nd second|3rd third')

function classify(
  word: string,
  written: string,
  { isFirst, isCaseless }: { isFirst: boolean; isCaseless: boolean },
): QuestionWord {
  const figure = word === 'one' ? undefined : parseNumberWord(word)
  const spelled = /^\p{L}+$/u.test(word) ? toAmerican(word) : word.replace(/(?<=\d),(?=\d{3})/g, '')
  const text = ranks.get(word) ?? (figure === undefined ? spelled : String(figure))
  const wordClass = classOf(text)
  const isNumber = /\d/.test(text)
  const isContent = wordClass === undefined && /[\p{L}\p{N}]/u.test(text)
  const lemmas = isContent && !isNumber ? lemmasOf(text) : []
  const [lemma] = lemmas
  const isCapitalised = !isCaseless && /^\p{Lu}/u.test(written)
  return {
    text,
    base: lemma?.word ?? text,
    wordClass,
    kind: isNumber ? 'number' : isContent ? (lemma?.kind ?? 'name') : wordClass === undefined ? 'sign' : 'small',
    senses: lemma ? countSenses(lemma.word, lemma.kind) : 0,
    isContent,
    isCapital: isCapitalised && (!isFirst || (isContent && lemma === undefined)),
    isCaseSensitive: canBeProperNoun(text) && (!isContent || isEnglishWord(text)),
    isKnown: !isContent || isNumber || lemma !== undefined || canBeProperNoun(text),
  }
}

/** Returns whether the identifiers are equal, whatever their letter case if a text has none. A single letter always has one. */
export function haveEqualIdentifiers(ours: Question, theirs: Question): boolean {
  if (!ours.isCaseless && !theirs.isCaseless)
    return ours.identifiers === theirs.identifiers && !differInCapitals(ours, theirs)
  const fold = ({ identifiers }: Question) => identifiers.replace(/\S{2,}/g, word => word.toLowerCase())
  return fold(ours) === fold(theirs)
}

/** Returns whether a word has a capital after its first letter in one question only: "MB" and "Mb", "getId" and "getID". */
function differInCapitals(ours: Question, theirs: Question): boolean {
  return [...ours.spellings].some(([lower, word]) => (theirs.spellings.get(lower) ?? word).slice(1) !== word.slice(1))
}
