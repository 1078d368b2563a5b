/** Owns the making of JSON instances that satisfy a client's JSON Schema, deterministically and within bounds. */
import { invalidRequest, type ProxyError } from '../../errors.ts'
import { BudgetSpentError, createBudget, SchemaError } from './schema/budget.ts'
import type { Schema } from './schema/keywords.ts'
import { toSchema } from './schema/keywords.ts'
import { satisfies } from './schema/satisfies.ts'
import { solve } from './schema/solve.ts'
import { openWorkshop } from './schema/workshop.ts'

/** For a full instance, and again for the smallest one where that was too large. A step takes a few microseconds. */
const STEPS = 40_000
const LONGEST_INSTANCE_CHARS = 131_072
/** Different values a writer offers before a conflict counts as unsolvable. */
const VARIETY = 6

/**
 * The JSON text of an instance that satisfies the schema (JSON Schema 2020-12; draft 7 as far as tuples). The same
 * schema always gives the same text. With `mustBeObject`, an object.
 *
 * Throws a 400 naming `param` where the schema is malformed, has no instance, or none within the sandbox's bounds.
 */
export function writeSchemaInstance(schema: unknown, param: string, mustBeObject = false): string {
  try {
    const root = toSchema(schema, 'schema')
    const demands: Schema[] = mustBeObject ? [{ type: 'object' }, root] : [root]
    const instance = JSON.stringify(findInstance(root, demands))
    if (instance.length <= LONGEST_INSTANCE_CHARS) return instance
    throw new SchemaError('asks for an instance too large for the sandbox')
  } catch (error) {
    throw toInvalidRequest(error, param)
  }
}

function findInstance(root: Schema, demands: Schema[]): unknown {
  try {
    return attempt(root, demands, false)
  } catch (error) {
    if (!(error instanceof BudgetSpentError)) throw error
    return attempt(root, demands, true)
  }
}

function attempt(root: Schema, demands: Schema[], compact: boolean): unknown {
  const shop = openWorkshop(root, createBudget(STEPS))
  const place = { depth: 0, open: new Set<Schema>(), compact, name: 'value', variety: VARIETY }
  for (const value of solve(demands, place, shop)) {
    if (demands.every(demand => satisfies(demand, value, shop))) return value
  }
  throw new SchemaError('has no instance that the sandbox could find')
}

/** A stack that overflows is one more way for a schema to be nested too deeply. */
function toInvalidRequest(error: unknown, param: string): ProxyError | unknown {
  if (error instanceof RangeError) return invalidRequest(`The schema in '${param}' is nested too deeply.`, param)
  return error instanceof SchemaError ? invalidRequest(`The schema in '${param}' ${error.message}.`, param) : error
}
