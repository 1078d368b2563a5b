/** Translates Anthropic's errors into OpenAI's envelope. */

import { type ProxyError, quoteError } from '../../../errors/errors.ts'
import { isJsonObject, type JsonObject } from '../../../formats/json/canonical.ts'
import { kindOfError } from '../../../formats/messages/message-errors.ts'

/**
 * Reads `{"type":"error","error":{type,message,details?}}`, from a body or an event. `status` is the response's and is kept; null for an
 * event, whose type decides the status.
 */
export function translateError(body: unknown, status: number | null): ProxyError {
  const error = isJsonObject(body) && isJsonObject(body.error) ? body.error : {}
  const type = typeof error.type === 'string' ? error.type : 'api_error'
  const kind = kindOfError(type)
  return quoteError({
    status: status ?? kind.status,
    type,
    code: readDetailCode(error) ?? kind.code,
    message: readMessage(error, status),
  })
}

/** Anthropic's own code, more specific than the type, if there is one. */
function readDetailCode({ details }: JsonObject): string | null {
  return isJsonObject(details) && typeof details.error_code === 'string' ? details.error_code : null
}

function readMessage({ message }: JsonObject, status: number | null): string {
  if (typeof message === 'string' && message !== '') return message
  return status === null ? 'Anthropic broke off its answer with an error.' : `Anthropic answered with status ${status}.`
}
