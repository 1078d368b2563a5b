/** Checks a Responses request's fields against the table of rules. */

import { invalidRequest, type ProxyError } from '../../errors.ts'
import type { JsonObject } from '../../json/json-object.ts'
import { FIELD_RULES, type FieldRule } from '../field-rules.ts'

const RULES: ReadonlyMap<string, FieldRule> = new Map(Object.entries(FIELD_RULES))

/** Returns the fields without a rule. Throws a 400 that names a refused field. */
export function takeUnknownFields(body: JsonObject): JsonObject {
  const unknown: JsonObject = Object.create(null)
  for (const [field, value] of Object.entries(body)) {
    const rule = RULES.get(field)
    if (rule === undefined) unknown[field] = value
    else if (rule.treatment === 'refused' && value !== null && !rule.accepts?.(value)) {
      throw notTranslated(field, rule.reason)
    }
  }
  return unknown
}

/** A 400 for what only a provider with a Responses API can do. */
export function notTranslated(param: string, reason: string): ProxyError {
  return invalidRequest(`${param} works only with models whose provider has a Responses API: ${reason}`, param)
}
