/** Reads an embeddings request into single inputs, within OpenAI's limits on their form. */

import type { EmbeddingInput } from '../../cache/vectors/pack-vector.ts'
import { createError, invalidRequestError } from '../../errors/errors.ts'
import { MAX_MAIN_THREAD_BYTES } from '../../event-loop/worker-pool.ts'
import { readExpectedEmbeddings } from '../../formats/expected-output.ts'
import { hasInexactNumber, type JsonObject, pickRelevantFields } from '../../formats/json/canonical.ts'

/** The encoding in which the client wants a vector's numbers. */
export type EncodingFormat = 'float' | 'base64'

export interface EmbeddingsInput {
  /** In order; at least one. */
  inputs: readonly EmbeddingInput[]
  form: EncodingFormat
  dimensions: unknown
  /** Fields that can change a vector besides model, dimensions and input. */
  otherFields: JsonObject
}

const MOST_INPUTS = 2_048
/** What a model gives where the request does not say. */
const DEFAULT_DIMENSIONS = 1_536
const LARGE_DIMENSIONS = 3_072
/** The numbers of one response, by their encoding: some 96 MiB of text, of which a double takes up to 22 bytes and a 32-bit float in base64 5⅓. */
const MOST_NUMBERS: Record<EncodingFormat, number> = { float: 4_500_000, base64: 18_000_000 }
/** Fields that have a place of their own in the query, or do not change a vector, such as its encoding. */
const PLACED_FIELDS = ['model', 'input', 'dimensions', 'encoding_format']

/**
 * Returns null when inputs cannot be told apart with certainty: images, or an encoding that is not OpenAI's; and when one is longer than
 * any model takes: naming it would block the event loop. Such a request is cached as a whole. Throws a 400 for what OpenAI refuses: no
 * input, an empty one, too many.
 */
export function readEmbeddingsInput(body: JsonObject): EmbeddingsInput | null {
  const form = readForm(body.encoding_format)
  const inputs = readInputs(body.input)
  if (form === null || inputs === null || inputs.some(({ length }) => length > MAX_MAIN_THREAD_BYTES)) return null
  checkInputs(inputs)
  const otherFields = readOtherFields(body)
  // A batch is written anew, and writing such a number anew could change it.
  if (hasInexactNumber(JSON.stringify({ ...otherFields, dimensions: body.dimensions }))) return null
  // With unknown fields, base64 may encode something other than 32-bit floats. Each encoding is then cached by itself.
  if (Object.keys(otherFields).length > 0) otherFields.encoding_format = form
  return { inputs, form, dimensions: body.dimensions ?? null, otherFields }
}

/** Throws a 400 for vectors that would make too large a response: before anything is asked for. */
export function checkResponseSize(body: JsonObject): void {
  const { count: inputs = 1, dimensions = defaultDimensions(body.model) } = readExpectedEmbeddings(body)
  const format = body.encoding_format === 'base64' ? 'base64' : 'float'
  const [count, most] = [inputs * dimensions, MOST_NUMBERS[format]]
  if (count > most) throw createError('embeddingsTooLarge', { inputs, dimensions, count, most, format })
}

const defaultDimensions = (model: unknown) =>
  typeof model === 'string' && model.includes('text-embedding-3-large') ? LARGE_DIMENSIONS : DEFAULT_DIMENSIONS

function readForm(format: unknown): EncodingFormat | null {
  if (format === undefined || format === null || format === 'float') return 'float'
  return format === 'base64' ? 'base64' : null
}

function readInputs(input: unknown): EmbeddingInput[] | null {
  if (typeof input === 'string') return [input]
  if (!Array.isArray(input)) return null
  if (input.length > 0 && isTokens(input)) return [input]
  const isOfOneKind = input.every(item => typeof item === 'string') || input.every(item => isTokens(item))
  return isOfOneKind ? input : null
}

function isTokens(items: unknown): items is number[] {
  return Array.isArray(items) && items.every(item => Number.isInteger(item) && item >= 0)
}

function checkInputs(inputs: readonly EmbeddingInput[]): void {
  if (inputs.length === 0) throw invalidRequestError("Invalid 'input': input cannot be an empty array.", 'input')
  if (inputs.length > MOST_INPUTS) throw createError('tooManyInputs', { count: inputs.length, most: MOST_INPUTS })
  const empty = inputs.findIndex(input => input.length === 0)
  if (empty < 0) return
  const place = inputs.length > 1 ? `input[${empty}]` : 'input'
  const what = typeof inputs[empty] === 'string' ? 'an empty string' : 'an empty array'
  throw invalidRequestError(`Invalid '${place}': input cannot be ${what}.`, 'input')
}

function readOtherFields(body: JsonObject): JsonObject {
  const fields = pickRelevantFields(body)
  for (const field of PLACED_FIELDS) delete fields[field]
  return fields
}
