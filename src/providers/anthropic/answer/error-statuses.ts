/** Anthropic's error types, each with its status and OpenAI's code. */
import type { ErrorType } from '@anthropic-ai/sdk/resources/shared'

export interface ErrorKind {
  /** For an error without a status, inside a stream. A status that Anthropic sends is kept. */
  status: number
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
export function kindOf(type: string): ErrorKind {
  return Object.hasOwn(KINDS, type) ? (KINDS[type as ErrorType] ?? unknownKind(type)) : unknownKind(type)
}

function unknownKind(type: string): ErrorKind {
  return { status: 500, code: type }
}
