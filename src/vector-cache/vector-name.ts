/** Names an embedding input: a hash over everything that can change its vector, or how it is stored. */
import { canonicalizeBody, sha256 } from '../json/canonical.ts'
import type { JsonObject } from '../json/json-object.ts'
import { PACKED_FORM } from './pack-vector.ts'

/** A text, or token ids. */
export type Input = string | readonly number[]

export interface VectorSpace {
  namespace: string
  /** The route that would answer, from `nameRoute`: the same model name may mean another model elsewhere. */
  route: string
  /** As the client asked for it. */
  model: string
  /** As the client asked for it; null for the model's default. */
  dimensions: unknown
  /** The client's headers that may change the vector, as name and value, sorted by name. */
  headers?: readonly (readonly [name: string, value: string])[]
  /** Every other field of the request that can change the vector, including fields not known today. */
  otherFields: JsonObject
}

/** Hex SHA-256 of each input in one space. */
export type NameVector = (input: Input) => string

/** Throws a 400 when the other fields are nested too deeply. */
export function createVectorNames({
  namespace,
  route,
  model,
  dimensions,
  headers = [],
  otherFields,
}: VectorSpace): NameVector {
  const fields = canonicalizeBody({ ...otherFields, model, dimensions })
  const parts = [`vector ${PACKED_FORM}`, namespace, route, fields]
  if (headers.length > 0) parts.push(JSON.stringify(headers))
  const space = sha256(parts.join('\n'))
  return input => sha256(`${space}${spell(input)}`)
}

/** A text and the tokens that spell it are two inputs. Lone surrogates are escaped: as UTF-8, they would all hash alike. */
function spell(input: Input): string {
  if (typeof input !== 'string') return `#${input.join()}`
  return input.isWellFormed() ? `t${input}` : `j${JSON.stringify(input)}`
}
