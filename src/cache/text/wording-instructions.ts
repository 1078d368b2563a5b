/**
 * Finds instructions about the wording of the user's message, such as "translate what the user writes". A linear model decides about each
 * sentence. `scripts/evaluate/train-contexts.ts` trains it from labelled instructions and writes its file.
 */

import { baseFormOf, generalSensesOf } from './lexicon.ts'
import { lazily, openPackedModel } from './packed-model.ts'

export interface WordingModel {
  /** The log odds of a sentence without features, less the threshold: of a short text, and of a whole prompt. */
  readonly bias: { readonly short: number; readonly whole: number }
  /** By feature, in units of 1 / WEIGHT_UNITS. */
  readonly weights: Readonly<Record<string, number>>
}

export const WEIGHT_UNITS = 4
const MAX_SENTENCE_CHARS = 400
/** Pairs of words are at most so many words apart. */
const MAX_DISTANCE = 3
/** Frequent senses of a word whose more general senses are features. */
const MAX_SENSES = 2
const token = /[\p{L}\p{M}]+(?:-[\p{L}\p{M}]+)*|\p{N}+|'s(?!\p{L})|[,;:?!]/gu
/** Marks the text that follows, such as "Question:" or "<query>", and is no instruction. */
const label = /^(?:[<[][^<>[\]]*[>\]]|\p{L}+(?: \p{L}+)?:)\s*$/u
/** Scripts without spaces between words have shorter parts of words. */
const dense = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u

const model = openPackedModel<WordingModel>(new URL('./wording-model.json.br', import.meta.url))
const readWeights = lazily(() => new Map(Object.entries(model.read().weights)))

/** Identifies the model. Matches in contexts that another model has classified are not reused. */
export const readWordingModelHash = (): string => model.hash

/** Returns whether the text instructs the model to work on the wording of the user's message. Linear. */
export function asksForWording(text: string): boolean {
  const [weights, { bias: biases }] = [readWeights(), model.read()]
  const weigh = (features: readonly string[]): Weighed => [
    features.reduce((sum, feature) => sum + (weights.get(feature) ?? 0), 0),
    features.length,
  ]
  const known = new Map<string, Weighed>()
  function weighWord(word: string): Weighed {
    const weighed = known.get(word) ?? weigh(featuresOfWord(word))
    known.set(word, weighed)
    return weighed
  }
  const sentences = readSentences(text)
  const bias = isWholePrompt(sentences) ? biases.whole : biases.short
  return sentences.some(({ words, pairs }) => {
    let [sum, count] = weigh(pairs)
    for (const [weight, features] of words.map(weighWord)) {
      sum += weight
      count += features
    }
    return bias + (sum / WEIGHT_UNITS) * lengthFactor(count) > 0
  })
}

/** Returns whether the sentences are a whole prompt, of which more may be found by mistake than of a single instruction. */
export const isWholePrompt = (sentences: readonly Sentence[]): boolean => sentences.length >= 3

type Weighed = readonly [sum: number, features: number]

/** The factor of a sentence's sum of weights, so that a short sentence can decide as well as a long one. */
export const lengthFactor = (features: number): number => features ** -0.4

export interface Sentence {
  /** Its distinct words, numbers and marks, and those of the sentence before it after `<`. */
  readonly words: readonly string[]
  /** The distinct pairs of the base forms of near words. `^` and `$` are the sentence's ends. */
  readonly pairs: readonly string[]
}

/** Divides a text into sentences, each with its features. */
export function readSentences(text: string): Sentence[] {
  let before: readonly string[] = []
  return splitSentences(text.toLowerCase().replaceAll('’', "'")).map(sentence => {
    const words = (sentence.match(token) ?? []).map(word => (/^\p{N}/u.test(word) ? '0' : word))
    const bases = ['^', ...words.map(baseFormOf), '$']
    const pairs = bases.flatMap((base, at) =>
      bases.slice(at + 1, at + 1 + MAX_DISTANCE).map((next, between) => `${base}${between === 0 ? ' ' : '..'}${next}`),
    )
    const all = new Set([...words, ...before.map(word => `<${word}`)])
    before = words
    return { words: [...all], pairs: [...new Set(pairs)] }
  })
}

function splitSentences(text: string): string[] {
  return text.split(/(?<=[.!?…])["')\]*_”]*\s+|(?<=[。！？])|\n+/).flatMap(sentence => {
    const trimmed = sentence.replace(/^[\s\-*•#>\d.)(_"“'|–—]+/, '')
    const parts = []
    for (let at = 0; at < trimmed.length; at += MAX_SENTENCE_CHARS)
      parts.push(trimmed.slice(at, at + MAX_SENTENCE_CHARS))
    return parts.filter(part => /\p{L}/u.test(part) && !label.test(part))
  })
}

/** Returns a word's base form, its senses, and its parts of a few letters; of a word of the sentence before, the base form alone. */
export function featuresOfWord(word: string): string[] {
  if (word.startsWith('<')) return [`<${baseFormOf(word.slice(1))}`]
  if (!/\p{L}/u.test(word)) return [word]
  const base = baseFormOf(word)
  const senses = (['v', 'n'] as const).flatMap(kind =>
    Array.from(generalSensesOf(base, kind, MAX_SENSES), sense => `${kind}${sense}`),
  )
  return [base, ...senses, ...partsOfWord(word)]
}

function partsOfWord(word: string): ReadonlySet<string> {
  const [whole, lengths] = dense.test(word) ? [word, [2, 3]] : [`_${word}_`, [4]]
  const parts = lengths.flatMap(length =>
    Array.from({ length: Math.max(0, whole.length - length + 1) }, (_, at) => `#${whole.slice(at, at + length)}`),
  )
  return new Set(parts)
}
