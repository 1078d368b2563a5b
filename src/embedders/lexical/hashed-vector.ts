/** A vector that features are hashed into: each adds its weight, with a sign of its own, at a place of its own. */

const offset = 0x811c9dc5
const prime = 0x01000193

/** FNV-1a over UTF-16 code units, which can be continued from a hash: n-grams of growing length cost one step each. */
export function hashText(text: string, seed: number = offset): number {
  let hash = seed
  for (let at = 0; at < text.length; at += 1) hash = hashUnit(hash, text.charCodeAt(at))
  return hash
}

/** One step of the hash. */
export function hashUnit(hash: number, unit: number): number {
  return Math.imul(hash ^ unit, prime)
}

/** Adds a feature to the vector, whose length must be a power of two. Similar hashes are spread first. */
export function addFeature(vector: Float32Array, hash: number, weight: number): void {
  const mixed = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  const spread = mixed ^ (mixed >>> 13)
  const place = spread & (vector.length - 1)
  vector[place] = (vector[place] ?? 0) + (spread & 0x10000 ? weight : -weight)
}

/** Scales the vector to length 1, in place. One with no direction becomes the first axis. */
export function normalizeLength(vector: Float32Array): Float32Array {
  // By index: an iterator takes five times as long.
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
 * Turns the vector, whose length must be a power of two, so that each feature has a part in every number (Walsh and Hadamard's
 * transform, in place). Angles stay as they are. The signs of a few places and many zeros would tell little of a text, and large
 * groups of prompts are parted by signs.
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
