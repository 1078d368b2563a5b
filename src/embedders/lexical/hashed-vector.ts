/** A vector that features are hashed into: the hash of each decides its position and its sign. */

const offset = 0x811c9dc5
const prime = 0x01000193

/** FNV-1a over UTF-16 code units. It can continue from a hash, so that n-grams of growing length cost one step each. */
export function hashText(text: string, seed: number = offset): number {
  let hash = seed
  for (let at = 0; at < text.length; at += 1) hash = hashUnit(hash, text.charCodeAt(at))
  return hash
}

/** One step of the hash. */
export function hashUnit(hash: number, unit: number): number {
  return Math.imul(hash ^ unit, prime)
}

/**
 * Adds a feature to the vector, whose length must be a power of two. Mixes the hash first, because similar features have similar hashes.
 */
export function addFeature(vector: Float32Array, hash: number, weight: number): void {
  const mixed = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  const spread = mixed ^ (mixed >>> 13)
  const place = spread & (vector.length - 1)
  vector[place] = (vector[place] ?? 0) + (spread & 0x10000 ? weight : -weight)
}

/** Scales the vector to length 1, in place. A zero vector becomes the first axis. */
export function normalizeLength(vector: Float32Array): Float32Array {
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

/**
 * Rotates the vector in place, so that each feature affects every number (Walsh–Hadamard transform); its length must be a power of two.
 * Angles do not change. Large groups of prompts are divided by signs, and without this most numbers would be zero and have none.
 */
export function spreadFeatures(vector: Float32Array): Float32Array {
  for (let half = 1; half < vector.length; half *= 2) {
    for (let from = 0; from < vector.length; from += 2 * half) {
      for (let at = from; at < from + half; at += 1) {
        const one = vector[at] as number
        const other = vector[at + half] as number
        vector[at] = one + other
        vector[at + half] = one - other
      }
    }
  }
  return vector
}
