/** Carries errors between threads, where cloning loses their class. */
import { ProxyError, type ProxyErrorOptions } from './proxy-error.ts'

/** A ProxyError travels whole, without its cause; any other error as its message. */
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

export function deserializeError(carried: SerializedError): Error {
  return 'refusal' in carried ? new ProxyError(carried.refusal) : new Error(carried.failure)
}
