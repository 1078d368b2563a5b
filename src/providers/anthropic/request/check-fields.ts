/** Checks a request's fields against the table of rules. */

import { invalidRequest, type ProxyError } from '../../../errors/errors.ts'
import { takeUnruled } from '../../../formats/field-rule.ts'
import type { JsonObject } from '../../../formats/json/canonical.ts'
import { nameOf } from '../../../formats/kept-references.ts'
import { MESSAGE_FIELDS } from '../../../formats/messages/message-fields.ts'
import { FIELD_RULES, type RuledField } from '../field-rules.ts'

/** Returns the fields that are Anthropic's own. Throws a 400 that names a refused field, or one that Anthropic does not know. */
export function takeOwnFields(body: JsonObject): JsonObject {
  const own = takeUnruled(body, FIELD_RULES, field => refusal(field as RuledField, field))
  const unknown = Object.keys(own).find(field => !Object.hasOwn(MESSAGE_FIELDS, field))
  if (unknown === undefined) return own
  const param = nameOf(unknown)
  throw invalidRequest(
    `${param} cannot be sent to Anthropic: neither chat completions nor Anthropic’s Messages have such a field. Leave it out, or send the request to /v1/messages in Anthropic’s own form.`,
    param,
  )
}

/** The 400 for a refused field; `param` is its position in the request. */
export function refusal(field: RuledField, param: string): ProxyError {
  return invalidRequest(`${param} cannot be sent to Anthropic. ${FIELD_RULES[field].reason}`, param)
}
