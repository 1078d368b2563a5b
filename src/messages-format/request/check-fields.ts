/** Checks a Messages request's fields against the table of rules. */

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
    else if (rule.treatment === 'refused' && value !== null && !isEmptyList(value)) {
      throw notTranslated(field, rule.reason)
    }
  }
  return unknown
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

/** A 400 for what only Anthropic's own API can do. */
export function notTranslated(param: string, reason: string): ProxyError {
  return invalidRequest(
    `${param} works only with Claude models under an Anthropic key of the project's: ${reason}`,
    param,
  )
}
