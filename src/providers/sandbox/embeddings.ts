/**
 * Creates the sandbox's embeddings, with OpenAI's response format and limits on inputs. Vectors have unit length, are equal for equal inputs, and
 * are closer for inputs that share words.
 */
import { invalidRequestError } from '../../errors/errors.ts'
import { readEnum, readNonEmptyString, readOptional } from '../../formats/json/read-fields.ts'
import { createTokenCounter } from '../../formats/tokens/text-counter.ts'
import { type PromptInput, readInputs, readInteger, type SandboxRequest } from './fields.ts'

const MAX_INPUTS = 2048
const MAX_INPUT_TOKENS = 8192
const MAX_REQUEST_TOKENS = 300_000
const MAX_DIMENSIONS = 3072
const DEFAULT_DIMENSIONS = 1536

/** Returns a `list` of embeddings in the order of the inputs. Throws a 400 for a request that OpenAI would reject. */
export function createEmbeddings(request: SandboxRequest): Record<string, unknown> {
  const model = readNonEmptyString(request.model, 'model')
  const inputs = readInputs(request, 'input', MAX_INPUTS)
  const dimensions = readInteger(request, 'dimensions', 1, MAX_DIMENSIONS) ?? defaultDimensions(model)
  const encode = readEncoding(request)
  const tokens = countTokens(inputs, model)
  return {
    object: 'list',
    data: inputs.map((input, index) => ({
      object: 'embedding',
      index,
      embedding: encode(createVector(input, model, dimensions)),
    })),
    model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  }
}

const defaultDimensions = (model: string) =>
  model.endsWith('text-embedding-3-large') ? MAX_DIMENSIONS : DEFAULT_DIMENSIONS

function readEncoding(request: SandboxRequest): (vector: Float32Array) => string | number[] {
  const format = readEnum(readOptional(request, 'encoding_format') ?? 'float', 'encoding_format', ['float', 'base64'])
  return vector => (format === 'float' ? [...vector] : Buffer.from(vector.buffer).toString('base64'))
}

/** Returns the tokens of all inputs. Throws a 400 when one input or their sum exceeds its limit. */
function countTokens(inputs: PromptInput[], model: string): number {
  const countText = createTokenCounter(model)
  let total = 0
  for (const [index, input] of inputs.entries()) {
    const place = inputs.length > 1 ? `input[${index}]` : 'input'
    if (input === '') throw invalidRequestError(`Invalid '${place}': input cannot be an empty string.`, 'input')
    const tokens = typeof input === 'string' ? countText(input) : input.length
    if (tokens > MAX_INPUT_TOKENS) {
      throw invalidRequestError(
        `Invalid '${place}': at most ${MAX_INPUT_TOKENS} tokens are allowed, it has ${tokens}.`,
        'input',
      )
    }
    total += tokens
  }
  if (total <= MAX_REQUEST_TOKENS) return total
  throw invalidRequestError(
    `Invalid 'input': at most ${MAX_REQUEST_TOKENS} tokens are allowed in a request, it has ${total}.`,
    'input',
  )
}

/** The number of dimensions that each word changes. */
const DIMENSIONS_PER_WORD = 8
/** The weight of the whole input relative to a word. It separates inputs with the same words, and fills every dimension. */
const WHOLE_WEIGHT = 0.5

/** Returns a vector in the platform's byte order, which is little-endian wherever Bun runs, like the base64 of providers. */
function createVector(input: PromptInput, model: string, dimensions: number): Float32Array {
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
