/** Reads an upstream's embeddings answer: a short one here, a long one in a worker. */

import { isJsonObject, type JsonObject, parseJsonObject } from '../../json/json-object.ts'
import { type GivenNumbers, packVector } from '../../vector-cache/pack-vector.ts'
import type { VectorForm } from './read-query.ts'

export interface EmbeddingsAnswer {
  /** In the order of the inputs that were sent. */
  packed: Uint8Array[]
  /** The form that all vectors came in; null where they differ. */
  form: VectorForm | null
  /** Whether they came in the order of the inputs. */
  isInOrder: boolean
  /** What upstream called the model; null where it did not. */
  model: string | null
  usage: unknown
}

/** A key, which no string can hold unescaped, and the plain numbers or the base64 that it has. */
const VECTOR = /"embedding"\s*:\s*(\[[^\][{}"]*\]|"[\w+/=-]*")/g
const FLOAT_BYTES = 4

/** Null where it does not hold exactly one vector of finite numbers for each of so many inputs. */
export function readEmbeddingsAnswer(text: string, inputs: number): EmbeddingsAnswer | null {
  const { skeleton, vectors } = takeOutVectors(text)
  const body = parseJsonObject(skeleton)
  const data = Array.isArray(body?.data) ? body.data : []
  if (!body || data.length !== inputs) return null

  const packed: (Uint8Array | undefined)[] = Array.from({ length: inputs })
  const forms = new Set<VectorForm>()
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

/** The text with each vector replaced by its place among `vectors`, which are texts still. */
function takeOutVectors(text: string): { skeleton: string; vectors: string[] } {
  const pattern = new RegExp(VECTOR)
  const vectors: string[] = []
  let skeleton = ''
  let end = 0
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    skeleton += `${text.slice(end, match.index)}"embedding":[${vectors.length}]`
    end = pattern.lastIndex
    vectors.push(match[1] ?? '')
  }
  return { skeleton: skeleton + text.slice(end), vectors }
}

function readNumbers(datum: unknown, vectors: readonly string[]): GivenNumbers | null {
  const place = isJsonObject(datum) ? datum.embedding : undefined
  // Everything that can be a vector was taken out: a list of one number is its place, and all else no vector.
  if (!Array.isArray(place) || place.length !== 1 || typeof place[0] !== 'number') return null
  const given = parseJson(vectors[place[0]] ?? '')
  if (typeof given === 'string') return readBase64(given)
  return Array.isArray(given) && given.every(number => typeof number === 'number') ? given : null
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Little-endian 32-bit floats, as everywhere this runs. */
function readBase64(text: string): Float32Array | null {
  const bytes = new Uint8Array(Buffer.from(text, 'base64'))
  return bytes.length % FLOAT_BYTES === 0 ? new Float32Array(bytes.buffer, 0, bytes.length / FLOAT_BYTES) : null
}

function readModel({ model }: JsonObject): string | null {
  return typeof model === 'string' && model.isWellFormed() && !model.includes('\0') ? model.slice(0, 128) : null
}
