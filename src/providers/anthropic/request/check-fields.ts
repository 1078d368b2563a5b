/** Checks a request's fields against the table of rules. */

import { invalidRequestError, type ProxyError } from '../../../errors/errors.ts'
import { applyFieldRules } from '../../../formats/field-rule.ts'
import type { JsonObject } from '../../../formats/json/canonical.ts'
import { MESSAGE_FIELD_RULES } from '../../../formats/messages/message-fields.ts'
import { redactFieldName } from '../../../formats/stored-object-references.ts'
import { type ChatRequestField, FIELD_RULES } from '../field-rules.ts'

/** Returns the fields that are Anthropic's own. Throws a 400 that names a refused field, or one that Anthropic does not know. */
export function pickAnthropicFields(body: JsonObject): JsonObject {
  const own = applyFieldRules(body, FIELD_RULES, field => unsupportedFieldError(field as ChatRequestField, field))
  const unknown = Object.keys(own).find(field => !Object.hasOwn(MESSAGE_FIELD_RULES, field))
  if (unknown === undefined) return own
  const param = redactFieldName(unknown)
  throw invalidRequestError(
    `${param} cannot be sent to Anthropic: neither chat completions nor Anthropic’s Messages have such a field. Leave it out, or send the request to /v1/messages in Anthropic’s own form.`,
    param,
  )
}

/** The 400 for a refused field; `param` is its position in the request. */
export function unsupportedFieldError(field: ChatRequestField, param: string): ProxyError {
  return invalidRequestError(`${param} cannot be sent to Anthropic. ${FIELD_RULES[field].reason}`, param)
}
