/** Maps Anthropic's error types to statuses and to OpenAI's codes. */
import type { ErrorType } from '@anthropic-ai/sdk/resources/shared'

export interface ErrorTypeMapping {
  /** The status for an error within a stream, which has none. */
  status: number
  /** OpenAI's code. */
  code: string
}

/**
 * Overload has Anthropic's status 529, because OpenAI's clients retry any status from 500 on. Types that are not listed belong to other endpoints.
 */
const ERROR_TYPES = {
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

const MAPPING_BY_TYPE: ReadonlyMap<string, ErrorTypeMapping> = new Map(Object.entries(ERROR_TYPES))

/** Returns undefined for a type that is not Anthropic's. */
export function findErrorTypeMapping(type: string | null): ErrorTypeMapping | undefined {
  return type === null ? undefined : MAPPING_BY_TYPE.get(type)
}

/** Error types by status, including statuses that Anthropic does not have. */
const TYPE_BY_STATUS: ReadonlyMap<number, string> = new Map([
  ...Object.entries(ERROR_TYPES).map(([type, { status }]): [number, string] => [status, type]),
  [408, 'timeout_error'],
  [503, 'overloaded_error'],
])

export function errorTypeOfStatus(status: number): string {
  return TYPE_BY_STATUS.get(status) ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
}
