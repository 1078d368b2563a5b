/** Writes errors in Anthropic's envelope. */

import type { ProxyError } from '../../errors/errors.ts'
import { type ClientError, chooseStatus, errorTypeOfStatus } from '../errors/client-error.ts'
import {
  CONTEXT_LENGTH_EXCEEDED,
  isAnthropicContextLengthMessage,
  writeAnthropicContextMessage,
} from '../errors/context-length-error.ts'
import { type ProviderError, readProviderError } from '../errors/provider-error.ts'
import { asString, isJsonObject, parseJson } from '../json/canonical.ts'

export interface AnthropicErrorBody {
  type: 'error'
  error: { type: string; message: string; details?: Readonly<Record<string, unknown>> }
  request_id: string
}

/** Writes an error. The `request-id` header contains the same `request_id`, and Anthropic's clients read it there. */
export function writeAnthropicError(
  { status, message, code, details }: Pick<ProxyError, 'status' | 'message'> & Partial<ProxyError>,
  requestId: string,
): AnthropicErrorBody {
  const text = code === CONTEXT_LENGTH_EXCEEDED ? writeAnthropicContextMessage(message) : message
  return {
    type: 'error',
    error: { type: errorTypeOfStatus(status), message: text, ...(details && { details }) },
    request_id: requestId,
  }
}

/** Writes a provider's error with the status that fits its category. */
export function writeAnthropicProviderError(error: ProviderError, requestId: string): ClientError {
  const status = chooseStatus(error, 'anthropic') ?? 502
  const message =
    error.category === 'fullContext' ? writeAnthropicContextMessage(error.message, error.counts) : error.message
  return { status, body: { ...writeAnthropicError({ status, message }, requestId) } }
}

/** Does the same as `normalizeOpenAiContextLengthError` for clients of the Messages API. */
export function normalizeAnthropicContextError(text: string, status: number, requestId: string): ClientError | null {
  const error = readProviderError(text, status)
  if (error.category !== 'fullContext') return null
  const body = parseJson(text)
  const anthropicError = isJsonObject(body) && body.type === 'error' && isJsonObject(body.error) ? body.error : null
  if (status === 400 && anthropicError && isAnthropicContextLengthMessage(asString(anthropicError.message))) return null
  const written = writeAnthropicProviderError(error, requestId)
  if (!anthropicError) return written
  return {
    ...written,
    body: { ...written.body, ...(body as object), error: { ...anthropicError, ...(written.body.error as object) } },
  }
}
