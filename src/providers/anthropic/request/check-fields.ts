/** Checks a request's fields against the field rules. */

import { invalidRequestError, type ProxyError } from '../../../errors/errors.ts'
import { applyFieldRules } from '../../../formats/field-rule.ts'
import type { JsonObject } from '../../../formats/json/canonical.ts'
import { MESSAGE_FIELD_RULES } from '../../../formats/messages/message-fields.ts'
import { redactFieldName } from '../../../formats/stored-object-references.ts'
import { type ChatRequestField, FIELD_RULES } from '../field-rules.ts'

/** Returns the fields that only Anthropic has. Throws a 400 that names a rejected field, or a field that Anthropic does not have. */
export function pickAnthropicFields(body: JsonObject): JsonObject {
  const anthropicFields = applyFieldRules(body, FIELD_RULES, field =>
    unsupportedFieldError(field as ChatRequestField, field),
  )
  const unknown = Object.keys(anthropicFields).find(field => !Object.hasOwn(MESSAGE_FIELD_RULES, field))
  if (unknown === undefined) return anthropicFields
  const param = redactFieldName(unknown)
  throw invalidRequestError(
    `${param} cannot be sent to Anthropic: neither chat completions nor Anthropic’s Messages have such a field. Omit it, or send the request to /v1/messages in Anthropic’s format.`,
    param,
  )
}

/** Returns the 400 for a rejected field. `param` is its position in the request. */
export function unsupportedFieldError(field: ChatRequestField, param: string): ProxyError {
  return invalidRequestError(`${param} cannot be sent to Anthropic. ${FIELD_RULES[field].reason}`, param)
}
