/** Reads an embeddings request into single inputs, within OpenAI's limits on their form. */

import type { EmbeddingInput } from '../../cache/vectors/pack-vector.ts'
import { createError, invalidRequestError } from '../../errors/errors.ts'
import { MAX_MAIN_THREAD_BYTES } from '../../event-loop/worker-pool.ts'
import { readExpectedEmbeddings } from '../../formats/expected-output.ts'
import { hasInexactNumber, type JsonObject, pickRelevantFields } from '../../formats/json/canonical.ts'

/** The encoding in which the client wants a vector's numbers. */
export type EncodingFormat = 'float' | 'base64'

export interface EmbeddingsInput {
  /** The inputs in the order of the request; at least one. */
  inputs: readonly EmbeddingInput[]
  form: EncodingFormat
  dimensions: unknown
  /** Fields that can change a vector besides model, dimensions and input. */
  otherFields: JsonObject
}

const MAX_INPUTS = 2_048
/** Used if the request does not state its dimensions. */
const DEFAULT_DIMENSIONS = 1_536
const LARGE_DIMENSIONS = 3_072
/** Upper bound on the numbers of one response, by encoding. About 96 MiB of text: a double takes up to 22 bytes, a 32-bit float in base64 5⅓. */
const MAX_NUMBERS: Record<EncodingFormat, number> = { float: 4_500_000, base64: 18_000_000 }
/** Fields that the query stores separately, or that do not change a vector, such as its encoding. */
const SEPARATE_FIELDS = ['model', 'input', 'dimensions', 'encoding_format']

/**
 * Returns null for a request that can only be cached as a whole: one with images or an encoding that is not OpenAI's, or with an input so long
 * that hashing it would block the event loop. Throws a 400 for input that OpenAI rejects: no input, an empty input, too many inputs.
 */
export function readEmbeddingsInput(body: JsonObject): EmbeddingsInput | null {
  const form = readForm(body.encoding_format)
  const inputs = readInputs(body.input)
  if (form === null || inputs === null || inputs.some(({ length }) => length > MAX_MAIN_THREAD_BYTES)) return null
  checkInputs(inputs)
  const otherFields = readOtherFields(body)
  // A batch is serialized again, which could change such a number.
  if (hasInexactNumber(JSON.stringify({ ...otherFields, dimensions: body.dimensions }))) return null
  // With unknown fields, base64 may encode something other than 32-bit floats. Each encoding is then cached separately.
  if (Object.keys(otherFields).length > 0) otherFields.encoding_format = form
  return { inputs, form, dimensions: body.dimensions ?? null, otherFields }
}

/** Throws a 400 if the response with the requested vectors would be too large. */
export function checkResponseSize(body: JsonObject): void {
  const { count: inputs = 1, dimensions = defaultDimensions(body.model) } = readExpectedEmbeddings(body)
  const format = body.encoding_format === 'base64' ? 'base64' : 'float'
  const [count, max] = [inputs * dimensions, MAX_NUMBERS[format]]
  if (count > max) throw createError('embeddingsTooLarge', { inputs, dimensions, count, most: max, format })
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
  const isUniform = input.every(item => typeof item === 'string') || input.every(item => isTokens(item))
  return isUniform ? input : null
}

function isTokens(items: unknown): items is number[] {
  return Array.isArray(items) && items.every(item => Number.isInteger(item) && item >= 0)
}

function checkInputs(inputs: readonly EmbeddingInput[]): void {
  if (inputs.length === 0) throw invalidRequestError("Invalid 'input': input cannot be an empty array.", 'input')
  if (inputs.length > MAX_INPUTS) throw createError('tooManyInputs', { count: inputs.length, most: MAX_INPUTS })
  const empty = inputs.findIndex(input => input.length === 0)
  if (empty < 0) return
  const param = inputs.length > 1 ? `input[${empty}]` : 'input'
  const description = typeof inputs[empty] === 'string' ? 'an empty string' : 'an empty array'
  throw invalidRequestError(`Invalid '${param}': input cannot be ${description}.`, 'input')
}

function readOtherFields(body: JsonObject): JsonObject {
  const fields = pickRelevantFields(body)
  for (const field of SEPARATE_FIELDS) delete fields[field]
  return fields
}
