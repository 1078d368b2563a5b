/** Owns what every writer of values is given: the place in the instance it writes for, and a way to fill parts of it. */
import type { Schema } from './keywords.ts'
import type { Workshop } from './workshop.ts'

export interface Place {
  depth: number
  /** The schemas whose instances are being written around this place: meeting one again is recursion. */
  open: ReadonlySet<Schema>
  /** Write as little as possible: no optional properties, the smallest of the alternatives. */
  compact: boolean
  /** The nearest property name, which plain texts are made from. */
  name: string
  /** How many different values each writer offers. */
  variety: number
}

export interface Maker {
  shop: Workshop
  place: Place
  /** Values that satisfy all parts at once, the best first. */
  solve(parts: Schema[], change?: Partial<Place>): Generator<unknown>
}

/** Whether a schema, or what it refers to, is one whose instance is being written. */
export function leadsBack(schema: Schema, { open }: Place, { resolve }: Workshop): boolean {
  let target = schema
  const seen = new Set<Schema>()
  while (typeof target === 'object' && !seen.has(target)) {
    if (open.has(target)) return true
    seen.add(target)
    if (target.$ref === undefined) return false
    target = resolve(target.$ref)
  }
  return false
}
