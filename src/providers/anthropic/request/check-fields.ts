/** Checks a request's fields against the table of rules. */

import { invalidRequest, type ProxyError } from '../../../errors.ts'
import { takeUnruled } from '../../../formats/field-rule.ts'
import type { JsonObject } from '../../../json/canonical.ts'
import { FIELD_RULES, type RuledField } from '../field-rules.ts'

/** Returns the fields without a rule. Throws a 400 that names a refused field. */
export function takeUnknownFields(body: JsonObject): JsonObject {
  return takeUnruled(body, FIELD_RULES, field => refusal(field as RuledField, field))
}

/** The 400 for a refused field; `param` is its position in the request. */
export function refusal(field: RuledField, param: string): ProxyError {
  return invalidRequest(`${param} cannot be sent to Anthropic. ${FIELD_RULES[field].reason}`, param)
}
