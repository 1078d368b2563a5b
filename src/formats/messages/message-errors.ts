/** Writes errors in Anthropic's envelope. */

import { isJsonObject, parseJsonObject } from '../json/canonical.ts'

export interface MessagesError {
  type: 'error'
  error: { type: string; message: string }
  request_id: string
}

/** Anthropic's error types, by status. */
const KINDS: Record<number, string> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}

/** The same `request_id` is sent in the `request-id` header, where Anthropic's clients read it. */
export function writeError({ status, message }: { status: number; message: string }, requestId: string): MessagesError {
  const type = KINDS[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
  return { type: 'error', error: { type, message }, request_id: requestId }
}

/** Translates a provider's error, in OpenAI's form or any other, to Anthropic's. */
export function translateError(status: number, bodyText: string, requestId: string): MessagesError {
  const body = parseJsonObject(bodyText)
  const error = isJsonObject(body?.error) ? body.error : (body ?? {})
  const reported = typeof body?.error === 'string' ? body.error : error.message
  const message =
    typeof reported === 'string' && reported !== '' ? reported : `The provider answered with status ${status}.`
  return writeError({ status, message }, requestId)
}
