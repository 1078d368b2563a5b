/** Anthropic's errors: what they are in OpenAI's terms, and the envelope they are written in. */

import type { ErrorType } from '@anthropic-ai/sdk/resources/shared'
import type { ProxyError } from '../../errors/errors.ts'
import { isJsonObject, parseJsonObject } from '../json/canonical.ts'

export interface MessagesError {
  type: 'error'
  error: { type: string; message: string; details?: Readonly<Record<string, unknown>> }
  request_id: string
}

export interface ErrorKind {
  /** For an error without a status, inside a stream. A status that Anthropic sends is kept. */
  status: number
  /** OpenAI's. */
  code: string
}

/**
 * Overload keeps Anthropic's 529, because OpenAI's clients retry any status from 500 on. Types without a row belong to other endpoints.
 */
const KINDS: Partial<Record<ErrorType | 'request_too_large', ErrorKind>> = {
  invalid_request_error: { status: 400, code: 'invalid_request_error' },
  authentication_error: { status: 401, code: 'invalid_api_key' },
  billing_error: { status: 402, code: 'insufficient_quota' },
  permission_error: { status: 403, code: 'permission_denied' },
  not_found_error: { status: 404, code: 'model_not_found' },
  conflict_error: { status: 409, code: 'conflict' },
  request_too_large: { status: 413, code: 'request_too_large' },
  rate_limit_error: { status: 429, code: 'rate_limit_exceeded' },
  api_error: { status: 500, code: 'server_error' },
  timeout_error: { status: 504, code: 'upstream_timeout' },
  overloaded_error: { status: 529, code: 'overloaded' },
}

/** An unknown type becomes a server error under its own name. */
export function kindOfError(type: string): ErrorKind {
  const known = Object.hasOwn(KINDS, type) ? KINDS[type as ErrorType] : undefined
  return known ?? { status: 500, code: type }
}

/** Also of statuses that Anthropic does not have. */
const TYPES: ReadonlyMap<number, string> = new Map([
  ...Object.entries(KINDS).map(([type, { status }]): [number, string] => [status, type]),
  [408, 'timeout_error'],
  [503, 'overloaded_error'],
])

/** The same `request_id` is sent in the `request-id` header, where Anthropic's clients read it. */
export function writeError(
  { status, message, details = null }: Pick<ProxyError, 'status' | 'message'> & Partial<Pick<ProxyError, 'details'>>,
  requestId: string,
): MessagesError {
  const type = TYPES.get(status) ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
  return { type: 'error', error: { type, message, ...(details && { details }) }, request_id: requestId }
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
