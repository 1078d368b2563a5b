/** Owns `$ref`: finding the schema a reference names inside the document it stands in. */
import { isJsonObject } from '../../../json/json-object.ts'
import type { Budget } from './budget.ts'
import { SchemaError } from './budget.ts'
import { type Schema, toSchema } from './keywords.ts'

export type ResolveReference = (reference: unknown) => Schema

/** Resolves `#`, `#/a/json/pointer` and `#anchor`; throws `SchemaError` for what is elsewhere or not there. */
export function createReferences(root: Schema, budget: Budget): ResolveReference {
  const known = new Map<unknown, Schema>()
  return reference => {
    let target = known.get(reference)
    if (target === undefined) {
      target = toSchema(locate(root, reference, budget), '$ref')
      known.set(reference, target)
    }
    return target
  }
}

function locate(root: Schema, reference: unknown, budget: Budget): unknown {
  if (typeof reference !== 'string') throw new SchemaError("has a '$ref' that is not a string")
  if (!reference.startsWith('#')) throw new SchemaError("has a '$ref' that does not point inside the schema itself")
  const fragment = decodeFragment(reference.slice(1))
  budget.spend(1 + fragment.length / 8)
  const target =
    fragment === '' ? root : fragment.startsWith('/') ? walk(root, fragment) : findAnchor(root, fragment, budget)
  if (target === undefined) throw new SchemaError("has a '$ref' to a place that the schema does not have")
  return target
}

function decodeFragment(fragment: string): string {
  try {
    return decodeURIComponent(fragment)
  } catch {
    throw new SchemaError("has a '$ref' that is not a valid URI fragment")
  }
}

/** RFC 6901. */
function walk(root: Schema, pointer: string): unknown {
  let place: unknown = root
  for (const step of pointer.slice(1).split('/')) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof place !== 'object' || place === null || !Object.hasOwn(place, key)) return undefined
    place = (place as Record<string, unknown>)[key]
  }
  return place
}

function findAnchor(root: Schema, anchor: string, budget: Budget): unknown {
  const waiting: unknown[] = [root]
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    budget.spend(1)
    if (isJsonObject(place) && (place.$anchor === anchor || place.$dynamicAnchor === anchor)) return place
    if (typeof place !== 'object' || place === null) continue
    for (const value of Object.values(place)) if (typeof value === 'object' && value !== null) waiting.push(value)
  }
  return undefined
}
