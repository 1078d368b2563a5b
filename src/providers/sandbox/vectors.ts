/** Owns the sandbox's vectors: unit length, the same for the same input, nearer for inputs that share words. */
import type { Input } from './prompts.ts'

/** Dimensions that each word adds to or takes from. */
const DIMENSIONS_PER_WORD = 8
/** Weight of the whole input beside its words: tells apart inputs of the same words, and keeps any vector from being 0. */
const WHOLE_WEIGHT = 0.25

/** Little-endian floats, as upstream's base64 form has them. */
export function makeVector(input: Input, model: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions)
  const words =
    typeof input === 'string' ? input.toLowerCase().split(/[^\p{L}\p{N}]+/u) : input.map(token => `#${token}`)
  for (const word of words) if (word !== '') addFeature(vector, word, 1)
  addFeature(vector, `${model}\n${typeof input === 'string' ? input : input.join()}`, WHOLE_WEIGHT)
  return normalize(vector)
}

function addFeature(vector: Float32Array, feature: string, weight: number): void {
  let state = hash(feature)
  for (let count = 0; count < DIMENSIONS_PER_WORD; count++) {
    state = scramble(state + count)
    const at = state % vector.length
    const amount = ((scramble(state) % 1024) + 1) / 1024
    vector[at] = (vector[at] ?? 0) + (state >>> 31 === 0 ? amount : -amount) * weight
  }
}

function normalize(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector)
  // Opposite words may cancel out where dimensions are few.
  if (length === 0) return vector.fill(1 / Math.sqrt(vector.length))
  return vector.map(value => value / length)
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let state = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    state = Math.imul(state ^ text.charCodeAt(index), 0x01000193)
  }
  return state >>> 0
}

/** One round of mixing, so that hashes which differ in one bit differ in half of them. */
function scramble(state: number): number {
  let mixed = Math.imul(state ^ (state >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
