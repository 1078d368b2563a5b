/** Reads an upstream's embeddings response: a short one on the event loop, a long one in a worker. */

import { packVector, type VectorNumbers } from '../../../cache/vectors/pack-vector.ts'
import { isJsonObject, type JsonObject, parseJson, parseJsonObject } from '../../../formats/json/canonical.ts'
import type { EncodingFormat } from '../../request/embeddings-query.ts'

export interface EmbeddingsResponse {
  /** In the order of the inputs that were sent. */
  packed: Uint8Array[]
  /** The encoding of all vectors; null when they differ. */
  form: EncodingFormat | null
  /** Whether the vectors came in the order of the inputs. */
  isInOrder: boolean
  /** The model's name as the upstream reported it; null when it did not. */
  model: string | null
  usage: unknown
}

/** An `embedding` key with a list of plain numbers or a base64 string. A JSON string cannot contain this key unescaped. */
const VECTOR = /"embedding"\s*:\s*(\[[^\][{}"]*\]|"[\w+/=-]*")/g
const FLOAT_BYTES = 4

/** Returns null unless the text holds exactly one vector of finite numbers for each of `inputs` inputs. */
export function readEmbeddingsResponse(text: string, inputs: number): EmbeddingsResponse | null {
  const { skeleton, vectors } = takeOutVectors(text)
  const body = parseJsonObject(skeleton)
  const data = Array.isArray(body?.data) ? body.data : []
  if (!body || data.length !== inputs) return null

  const packed: (Uint8Array | undefined)[] = Array.from({ length: inputs })
  const forms = new Set<EncodingFormat>()
  let isInOrder = true
  for (const [place, datum] of data.entries()) {
    const given = readNumbers(datum, vectors)
    const index = isJsonObject(datum) ? (datum.index ?? place) : undefined
    const vector = given && packVector(given)
    if (!vector || typeof index !== 'number' || !(index in packed) || packed[index] !== undefined) return null
    packed[index] = vector
    forms.add(given instanceof Float32Array ? 'base64' : 'float')
    isInOrder &&= index === place
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
function takeOutVectors(text: string): { skeleton: string; vectors: string[] } {
  const pattern = new RegExp(VECTOR)
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
  const place = isJsonObject(datum) ? datum.embedding : undefined
  // `takeOutVectors` took out all vectors and left an index in a list of one; any other value is no vector.
  if (!Array.isArray(place) || place.length !== 1 || typeof place[0] !== 'number') return null
  const given = parseJson(vectors[place[0]] ?? '')
  if (typeof given === 'string') return readBase64(given)
  return Array.isArray(given) && given.every(number => typeof number === 'number') ? given : null
}

/** The bytes are little-endian 32-bit floats, the byte order of every platform the proxy runs on. */
function readBase64(text: string): Float32Array | null {
  const bytes = new Uint8Array(Buffer.from(text, 'base64'))
  return bytes.length % FLOAT_BYTES === 0 ? new Float32Array(bytes.buffer, 0, bytes.length / FLOAT_BYTES) : null
}

function readModel({ model }: JsonObject): string | null {
  return typeof model === 'string' && model.isWellFormed() && !model.includes('\0') ? model.slice(0, 128) : null
}
