/** Anthropic's error types: their statuses, and OpenAI's codes for them. */
import type { ErrorType } from '@anthropic-ai/sdk/resources/shared'

export interface ErrorTypeMapping {
  /** For an error without a status, inside a stream. */
  status: number
  /** OpenAI's. */
  code: string
}

/**
 * Overload keeps Anthropic's 529, because OpenAI's clients retry any status from 500 on. Types without a row belong to other endpoints.
 */
const KINDS = {
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
} satisfies Partial<Record<ErrorType | 'request_too_large', ErrorTypeMapping>>

const KIND_OF_TYPE: ReadonlyMap<string, ErrorTypeMapping> = new Map(Object.entries(KINDS))

/** Undefined for a type that is not Anthropic's. */
export function findErrorTypeMapping(type: string | null): ErrorTypeMapping | undefined {
  return type === null ? undefined : KIND_OF_TYPE.get(type)
}

/** Also of statuses that Anthropic does not have. */
const TYPES: ReadonlyMap<number, string> = new Map([
  ...Object.entries(KINDS).map(([type, { status }]): [number, string] => [status, type]),
  [408, 'timeout_error'],
  [503, 'overloaded_error'],
])

export function errorTypeOfStatus(status: number): string {
  return TYPES.get(status) ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
}
