/**
 * How well the words of two texts find each other. A sentence model gives each word a vector that depends on its sentence: two texts that
 * ask the same have no word without a close partner, while one exchanged word among many hardly changes the cosine of whole texts.
 */

export interface Alignment {
  /** Cosine of the two texts' own vectors. */
  cosine: number
  /** The words of the first and of the second text, in order, without punctuation. */
  words: readonly [readonly AlignedWord[], readonly AlignedWord[]]
}

export interface AlignedWord {
  /** As the model's tokenizer writes it: in lower case and without accents, if the model does not tell them apart. */
  word: string
  /** Cosine with the closest word of the other text. */
  cosine: number
  /** Index of that word. */
  partner: number
}

/** A text as a sentence model reads it. */
export interface ReadText {
  /** The unit vector. */
  vector: Float32Array
  /** Each with its unit vector. */
  words: readonly { word: string; vector: Float32Array }[]
}

/** Null when one of the texts has no words. */
export function alignTexts(one: ReadText, other: ReadText): Alignment | null {
  if (one.words.length === 0 || other.words.length === 0) return null
  return { cosine: dot(one.vector, other.vector), words: [partnersOf(one, other), partnersOf(other, one)] }
}

/** The smallest cosine among the words that count, in both directions; among all words when none counts. */
export function smallestCosine({ words }: Alignment, counts: (word: string) => boolean = () => true): number {
  const smallest = words.flat().filter(({ word }) => counts(word))
  return Math.min(...(smallest.length > 0 ? smallest : words.flat()).map(({ cosine }) => cosine))
}

function partnersOf(one: ReadText, other: ReadText): AlignedWord[] {
  return one.words.map(({ word, vector }) => {
    let [cosine, partner] = [-1, 0]
    for (const [at, candidate] of other.words.entries()) {
      const similarity = dot(vector, candidate.vector)
      if (similarity > cosine) [cosine, partner] = [similarity, at]
    }
    return { word, cosine, partner }
  })
}

function dot(one: Float32Array, other: Float32Array): number {
  let sum = 0
  for (let at = 0; at < one.length; at += 1) sum += (one[at] ?? 0) * (other[at] ?? 0)
  return sum
}
