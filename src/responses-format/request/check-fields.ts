/** Checks a Responses request's fields against the table of rules. */

import { invalidRequest, type ProxyError } from '../../errors.ts'
import type { JsonObject } from '../../json/json-object.ts'
import { takeUnruled } from '../../openai-format/field-rule.ts'
import { FIELD_RULES } from '../field-rules.ts'

/** Returns the fields without a rule. Throws a 400 that names a refused field. */
export function takeUnknownFields(body: JsonObject): JsonObject {
  return takeUnruled(body, FIELD_RULES, (field, { reason }) => notTranslated(field, reason))
}

/** A 400 for what only a provider with a Responses API can do. */
export function notTranslated(param: string, reason: string): ProxyError {
  return invalidRequest(`${param} works only with models whose provider has a Responses API: ${reason}`, param)
}
