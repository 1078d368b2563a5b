/** Creates the sandbox's vectors. They have unit length, are equal for equal inputs, and are closer for inputs that share words. */
import type { PromptInput } from './prompts.ts'

/** The number of dimensions that each word changes. */
const DIMENSIONS_PER_WORD = 8
/** The weight of the whole input relative to a word. It separates inputs with the same words, and fills every dimension. */
const WHOLE_WEIGHT = 0.5

/** Returns a vector in the platform's byte order, which is little-endian wherever Bun runs, like the base64 of providers. */
export function createVector(input: PromptInput, model: string, dimensions: number): Float32Array {
  const isText = typeof input === 'string'
  const words = isText ? input.toLowerCase().split(/[^\p{L}\p{N}]+/u) : input.map(token => `#${token}`)
  const vector = fillEvenly(`${model}\n${isText ? input : input.join()}`, dimensions)
  for (const word of words) if (word !== '') addWord(vector, word)
  return normalize(vector)
}

function fillEvenly(seed: string, dimensions: number): Float32Array {
  const start = hash(seed)
  const scale = WHOLE_WEIGHT / Math.sqrt(dimensions)
  return Float32Array.from({ length: dimensions }, (_, at) => amountOf(scramble(start + at)) * scale)
}

function addWord(vector: Float32Array, word: string): void {
  let state = hash(word)
  for (let count = 0; count < DIMENSIONS_PER_WORD; count++) {
    state = scramble(state + count)
    const at = state % vector.length
    vector[at] = (vector[at] ?? 0) + amountOf(scramble(state))
  }
}

/** Returns an amount between -1 and 1, never 0. */
const amountOf = (state: number) => ((((state >>> 1) % 1024) + 1) * (state % 2 === 0 ? 1 : -1)) / 1024

function normalize(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector)
  // In few dimensions, words may cancel each other out.
  if (length === 0) return vector.fill(1 / Math.sqrt(vector.length))
  return vector.map(value => value / length)
}

/** Returns the 32-bit FNV-1a hash. */
function hash(text: string): number {
  let state = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    state = Math.imul(state ^ text.charCodeAt(index), 0x01000193)
  }
  return state >>> 0
}

/** Mixes the bits once, so that hashes that differ in one bit differ in about half of their bits. */
function scramble(state: number): number {
  let mixed = Math.imul(state ^ (state >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
