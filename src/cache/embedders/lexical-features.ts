/**
 * Features of the lexical embedder: hashing into a vector, forms of words that are stable under inflection and typing errors, and weights
 * of words by their importance for a question's topic.
 */

const offset = 0x811c9dc5
const prime = 0x01000193

/** Returns the FNV-1a hash over UTF-16 code units. `seed` may be a hash to continue from, so that longer n-grams cost one step each. */
export function hashText(text: string, seed: number = offset): number {
  let hash = seed
  for (let at = 0; at < text.length; at += 1) hash = hashCodeUnit(hash, text.charCodeAt(at))
  return hash
}

/** Adds one code unit to the hash. */
export function hashCodeUnit(hash: number, unit: number): number {
  return Math.imul(hash ^ unit, prime)
}

/**
 * Adds a feature to the vector, whose length must be a power of two. Mixes the hash first, because similar features have similar hashes.
 */
export function addFeature(vector: Float32Array, hash: number, weight: number): void {
  const mixed = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  const spread = mixed ^ (mixed >>> 13)
  const index = spread & (vector.length - 1)
  vector[index] = (vector[index] ?? 0) + (spread & 0x10000 ? weight : -weight)
}

/** Scales the vector to length 1, in place. A zero vector becomes the first axis. */
export function normalizeVector(vector: Float32Array): Float32Array {
  // By index, because an iterator takes five times as long.
  let sum = 0
  for (let at = 0; at < vector.length; at += 1) sum += (vector[at] ?? 0) ** 2
  const length = Math.sqrt(sum)
  if (!(length > 1e-6)) {
    vector.fill(0)
    vector[0] = 1
    return vector
  }
  for (let at = 0; at < vector.length; at += 1) vector[at] = (vector[at] ?? 0) / length
  return vector
}

/** Returns the word without common endings: "changes", "changed" and "changing" become one. */
export function stripWordEnding(word: string): string {
  const bare = word.endsWith("'s") ? word.slice(0, -2) : word
  if (bare.length < 4) return bare
  if (bare.endsWith('ies')) return `${bare.slice(0, -3)}y`
  if (bare.endsWith('ing') && bare.length > 5) return stripStemEnding(bare.slice(0, -3))
  if (bare.endsWith('ed') && bare.length > 4) return stripStemEnding(bare.slice(0, -2))
  if (bare.endsWith('s') && !bare.endsWith('ss')) return stripStemEnding(bare.slice(0, -1))
  return stripStemEnding(bare)
}

/** Returns the stem without a final "e" and with a double final consonant reduced: "planne", "plann" and "plan" become one. */
function stripStemEnding(stem: string): string {
  const bare = stem.endsWith('e') ? stem.slice(0, -1) : stem
  return bare.length > 3 && bare.at(-1) === bare.at(-2) ? bare.slice(0, -1) : bare
}

/** Returns the consonants in order, without doubling. Errors in vowels and doublings do not change it. */
export function consonantSkeletonOf(word: string): string {
  let skeleton = word[0] ?? ''
  for (let at = 1; at < word.length; at += 1) {
    const letter = word[at] ?? ''
    if (letter !== word[at - 1] && !'aeiou'.includes(letter)) skeleton += letter
  }
  return skeleton
}

const FIRST_LETTER = 'a'.charCodeAt(0)
const LETTERS = 26

/** Returns the distinct letters in alphabetical order. Errors in order and doublings do not change it. */
export function distinctLettersOf(word: string): string {
  let occurring = 0
  for (let at = 0; at < word.length; at += 1) {
    const letter = word.charCodeAt(at) - FIRST_LETTER
    if (letter < 0 || letter >= LETTERS) return [...new Set(word)].sort().join('')
    occurring |= 1 << letter
  }
  // One bit per letter takes a tenth of the time of a set.
  let letters = ''
  for (let letter = 0; letter < LETTERS; letter += 1)
    if (occurring & (1 << letter)) letters += String.fromCharCode(FIRST_LETTER + letter)
  return letters
}

/** Weights of frequent words, as a substitute for inverse document frequency. */
const weightTable: ReadonlyArray<readonly [weight: number, words: string]> = [
  [
    0.12,
    `a an the this that these those some any i me my mine we us our you your he him his she her it its they them their one of in on at
    to for from with by about as into onto upon and or but so if be am is are was were been being do does did have has had will would
    shall should can could may might must there here what which how than then also too very really just please ever own such same
    someone something anyone anything get got`,
  ],
  [
    0.35,
    'who whom whose when where why before after during between under over up down out off more most less least all each every',
  ],
  [
    0.4,
    'best good great way ways thing things kind kinds type types example examples use used using make take give go come way need want',
  ],
]

const weights: ReadonlyMap<string, number> = new Map(
  weightTable.flatMap(([weight, words]) => words.split(/\s+/).map(word => [word, weight] as const)),
)

/** Returns the weight of a lower-case word; 1 when the table does not contain it. */
export function wordWeightOf(word: string): number {
  return weights.get(word) ?? 1
}
