/** Serializes errors for transfer between threads, because structured cloning loses their class. */
import { ProxyError, type ProxyErrorOptions } from './proxy-error.ts'

/** A ProxyError keeps everything except its cause; any other error only its message. */
export type SerializedError = { refusal: ProxyErrorOptions } | { failure: string }

export function serializeError(error: unknown): SerializedError {
  if (!(error instanceof ProxyError)) return { failure: error instanceof Error ? error.message : String(error) }
  const { status, code, message, type, param, details, headers, replacesResponse } = error
  const more = {
    ...(param && { param }),
    ...(details && { details }),
    ...(replacesResponse && { replacesResponse }),
  }
  return { refusal: { status, code, message, type, headers, ...more } }
}

export function deserializeError(serialized: SerializedError): Error {
  return 'refusal' in serialized ? new ProxyError(serialized.refusal) : new Error(serialized.failure)
}
