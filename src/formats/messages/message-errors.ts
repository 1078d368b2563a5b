/** Writes errors in Anthropic's envelope. */

import type { ProxyError } from '../../errors/errors.ts'
import { type ClientError, chooseStatus } from '../errors/client-error.ts'
import { describeFullContext, FULL_CONTEXT, isInAnthropicsWords } from '../errors/full-context.ts'
import { type ProviderError, readProviderError } from '../errors/provider-error.ts'
import { isJsonObject, parseJson, textOf } from '../json/canonical.ts'
import { typeOfStatus } from './error-types.ts'

export interface MessagesError {
  type: 'error'
  error: { type: string; message: string; details?: Readonly<Record<string, unknown>> }
  request_id: string
}

/** The same `request_id` is sent in the `request-id` header, where Anthropic's clients read it. */
export function writeError(
  { status, message, code, details }: Pick<ProxyError, 'status' | 'message'> & Partial<ProxyError>,
  requestId: string,
): MessagesError {
  const shown = code === FULL_CONTEXT ? describeFullContext(message) : message
  return {
    type: 'error',
    error: { type: typeOfStatus(status), message: shown, ...(details && { details }) },
    request_id: requestId,
  }
}

/** Writes a provider's error, with the status that fits its meaning. */
export function writeProviderError(error: ProviderError, requestId: string): ClientError {
  const status = chooseStatus(error, 'anthropic') ?? 502
  const message = error.meaning === 'fullContext' ? describeFullContext(error.message, error.counts) : error.message
  return { status, body: { ...writeError({ status, message }, requestId) } }
}

/** As `completeOpenAiError`, for clients of the Messages API. */
export function completeMessagesError(text: string, status: number, requestId: string): ClientError | null {
  const error = readProviderError(text, status)
  if (error.meaning !== 'fullContext') return null
  const body = parseJson(text)
  const own = isJsonObject(body) && body.type === 'error' && isJsonObject(body.error) ? body.error : null
  if (status === 400 && own && isInAnthropicsWords(textOf(own.message))) return null
  const written = writeProviderError(error, requestId)
  if (!own) return written
  return {
    ...written,
    body: { ...written.body, ...(body as object), error: { ...own, ...(written.body.error as object) } },
  }
}
