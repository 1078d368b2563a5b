/** Anthropic's error envelope. */
import type { ErrorScenario, JsonObject } from './scenario.ts'

export interface ApiError {
  status: number
  type: string
  message: string
}

/** Anthropic responds with 400 to every invalid body. */
export function invalid(message: string): ApiError {
  return { status: 400, type: 'invalid_request_error', message }
}

export function writeError(
  { type, message, details }: Pick<ErrorScenario, 'type' | 'message' | 'details'>,
  requestId: string,
): JsonObject {
  const error = { type, message: message ?? 'Something went wrong.', ...(details ? { details } : {}) }
  return { type: 'error', error, request_id: requestId }
}
