/** Serializes errors for transfer between threads, because structured cloning loses their class. */
import { ProxyError, type ProxyErrorOptions } from './proxy-error.ts'

/** A ProxyError keeps everything except its cause; any other error only its message. */
export type SerializedError = { proxyError: ProxyErrorOptions } | { message: string }

export function serializeError(error: unknown): SerializedError {
  if (!(error instanceof ProxyError)) return { message: error instanceof Error ? error.message : String(error) }
  const { status, code, message, type, param, details, headers, replacesResponse } = error
  const more = {
    ...(param && { param }),
    ...(details && { details }),
    ...(replacesResponse && { replacesResponse }),
  }
  return { proxyError: { status, code, message, type, headers, ...more } }
}

export function deserializeError(serialized: SerializedError): Error {
  return 'proxyError' in serialized ? new ProxyError(serialized.proxyError) : new Error(serialized.message)
}
