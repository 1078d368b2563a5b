/** Resolves a reference within a schema: RFC 6901 in its URI form, with percent encoding. */
import type { JsonSchema } from 'json-schema-faker'
import { isJsonObject, readField } from '../../../json/canonical.ts'

/** Returns the schema at a `#/…` reference; throws when there is none, and for references to other documents. */
export function resolvePointer(root: JsonSchema, reference: string): JsonSchema {
  const steps = decodeURIComponent(reference).split('/')
  if (steps.shift() !== '#') throw new Error('The reference leads elsewhere')
  const found = steps.reduce<unknown>((place, step) => follow(place, step), root)
  if (typeof found === 'boolean' || isJsonObject(found)) return found
  throw new Error('The reference leads to no schema')
}

function follow(place: unknown, step: string): unknown {
  const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
  if (Array.isArray(place)) return place[Number(name)]
  return isJsonObject(place) ? readField(place, name) : undefined
}
