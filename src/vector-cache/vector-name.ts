/** What makes two inputs the same to an embedding model: a hash over all that can change the vector. */
import { canonicalizeBody, sha256 } from '../json/canonical.ts'
import type { JsonObject } from '../json/json-object.ts'

/** A text, or the numbers of its tokens. */
export type Input = string | readonly number[]

export interface VectorSpace {
  namespace: string
  /** Who would answer, as `nameRoute` has it: the same model name may mean another model elsewhere. */
  route: string
  /** As it was asked for. */
  model: string
  /** As it was asked for; null where the model's own number is wanted. */
  dimensions: unknown
  /** The client's headers that may change the vector, as name and value, sorted by name. */
  headers?: readonly (readonly [name: string, value: string])[]
  /** All other fields of the request that can change the vector, those invented tomorrow included. */
  otherFields: JsonObject
}

/** Hex SHA-256 for each input of one space. */
export type NameVector = (input: Input) => string

/** Throws a 400 where the other fields are nested too deeply. */
export function createVectorNames({
  namespace,
  route,
  model,
  dimensions,
  headers = [],
  otherFields,
}: VectorSpace): NameVector {
  const fields = canonicalizeBody({ ...otherFields, model, dimensions })
  const parts = ['vector', namespace, route, fields]
  if (headers.length > 0) parts.push(JSON.stringify(headers))
  const space = sha256(parts.join('\n'))
  return input => sha256(`${space}${spell(input)}`)
}

/** A text and the tokens that spell it are two inputs. Half a surrogate pair would be hashed like any other half. */
function spell(input: Input): string {
  if (typeof input !== 'string') return `#${input.join()}`
  return input.isWellFormed() ? `t${input}` : `j${JSON.stringify(input)}`
}
