/** Reads an upstream's embeddings response. A worker reads long ones. */

import { packVector, type VectorNumbers } from '../../../cache/vectors/pack-vector.ts'
import type { JobResult } from '../../../event-loop/worker-pool.ts'
import { isJsonObject, type JsonObject, parseJson, parseJsonObject } from '../../../formats/json/canonical.ts'
import { concatBytes } from '../../../formats/sse/split-events.ts'
import type { EncodingFormat } from '../../request/embeddings-query.ts'

export interface EmbeddingsReadInput {
  parts: readonly Uint8Array[]
  inputs: number
}

export interface EmbeddingsReadResult {
  bytes: Uint8Array
  response: EmbeddingsResponse | null
}

/** Joins and reads a long embeddings response. */
export function readEmbeddingsJob({ parts, inputs }: EmbeddingsReadInput): JobResult<EmbeddingsReadResult> {
  const bytes = concatBytes(parts)
  const response = readEmbeddingsResponse(new TextDecoder().decode(bytes), inputs)
  if (!response) return { output: { bytes, response }, transfer: [bytes.buffer as ArrayBuffer] }
  // One buffer for all vectors, because it can be transferred to the main thread without a copy.
  const all = concatBytes(response.packed)
  let end = 0
  const packed = response.packed.map(({ length }) => {
    end += length
    return all.subarray(end - length, end)
  })
  return {
    output: { bytes, response: { ...response, packed } },
    transfer: [bytes.buffer as ArrayBuffer, all.buffer as ArrayBuffer],
  }
}

export interface EmbeddingsResponse {
  /** Packed vectors in the order of the inputs. */
  packed: Uint8Array[]
  /** The encoding of all vectors; null if they differ. */
  form: EncodingFormat | null
  /** Whether the response has the vectors in the order of the inputs. */
  isInOrder: boolean
  /** The model's name as the upstream reported it; null if it reported none. */
  model: string | null
  usage: unknown
}

/** Matches an `embedding` key with a list of numbers or a base64 string. A JSON string cannot contain this key unescaped. */
const VECTOR_PATTERN = /"embedding"\s*:\s*(\[[^\][{}"]*\]|"[\w+/=-]*")/g
const FLOAT_BYTES = 4

/** Returns null unless the text holds exactly one vector of finite numbers for each of `inputs` inputs. */
export function readEmbeddingsResponse(text: string, inputs: number): EmbeddingsResponse | null {
  const { skeleton, vectors } = extractVectors(text)
  const body = parseJsonObject(skeleton)
  const data = Array.isArray(body?.data) ? body.data : []
  if (!body || data.length !== inputs) return null

  const packed: (Uint8Array | undefined)[] = Array.from({ length: inputs })
  const forms = new Set<EncodingFormat>()
  let isInOrder = true
  for (const [position, datum] of data.entries()) {
    const numbers = readNumbers(datum, vectors)
    const index = isJsonObject(datum) ? (datum.index ?? position) : undefined
    const vector = numbers && packVector(numbers)
    if (!vector || typeof index !== 'number' || !(index in packed) || packed[index] !== undefined) return null
    packed[index] = vector
    forms.add(numbers instanceof Float32Array ? 'base64' : 'float')
    isInOrder &&= index === position
  }
  const [form = null] = forms
  return {
    packed: packed.filter(vector => vector !== undefined),
    form: forms.size === 1 ? form : null,
    isInOrder,
    model: readModel(body),
    usage: body.usage,
  }
}

/** Replaces each vector in the text by its index in `vectors`, whose items are unparsed text. */
function extractVectors(text: string): { skeleton: string; vectors: string[] } {
  const pattern = new RegExp(VECTOR_PATTERN)
  const vectors: string[] = []
  let skeleton = ''
  let end = 0
  // raw text: a vector that an escape hides is none, and its response is not stored.
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    skeleton += `${text.slice(end, match.index)}"embedding":[${vectors.length}]`
    end = pattern.lastIndex
    vectors.push(match[1] ?? '')
  }
  return { skeleton: skeleton + text.slice(end), vectors }
}

function readNumbers(datum: unknown, vectors: readonly string[]): VectorNumbers | null {
  const reference = isJsonObject(datum) ? datum.embedding : undefined
  // `extractVectors` replaced each vector by a list with its index. Any other value is not a vector.
  if (!Array.isArray(reference) || reference.length !== 1 || typeof reference[0] !== 'number') return null
  const numbers = parseJson(vectors[reference[0]] ?? '')
  if (typeof numbers === 'string') return readBase64(numbers)
  return Array.isArray(numbers) && numbers.every(number => typeof number === 'number') ? numbers : null
}

/** Decodes little-endian 32-bit floats. Every platform on which the proxy runs has this byte order. */
function readBase64(text: string): Float32Array | null {
  const bytes = new Uint8Array(Buffer.from(text, 'base64'))
  return bytes.length % FLOAT_BYTES === 0 ? new Float32Array(bytes.buffer, 0, bytes.length / FLOAT_BYTES) : null
}

function readModel({ model }: JsonObject): string | null {
  return typeof model === 'string' && model.isWellFormed() && !model.includes('\0') ? model.slice(0, 128) : null
}
