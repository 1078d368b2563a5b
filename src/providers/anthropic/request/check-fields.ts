/** Checks a request's fields against the table of rules. */

import { invalidRequest, type ProxyError } from '../../../errors.ts'
import type { JsonObject } from '../../../json/json-object.ts'
import { FIELD_RULES, type FieldRule, type RuledField } from '../field-rules.ts'

const RULES: ReadonlyMap<string, FieldRule> = new Map(Object.entries(FIELD_RULES))

/** Returns the fields without a rule. Throws a 400 that names a refused field. */
export function takeUnknownFields(body: JsonObject): JsonObject {
  const unknown: JsonObject = Object.create(null)
  for (const [field, value] of Object.entries(body)) {
    const rule = RULES.get(field)
    if (!rule) unknown[field] = value
    else if (rule.treatment === 'refused' && value !== null && !rule.accepts?.(value)) {
      throw refusal(field as RuledField, field)
    }
  }
  return unknown
}

/** The 400 for a refused field; `param` is its position in the request. */
export function refusal(field: RuledField, param: string): ProxyError {
  return invalidRequest(`${param} cannot be sent to Anthropic. ${FIELD_RULES[field].reason}`, param)
}
