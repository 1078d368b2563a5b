/** Errors on their way from one thread to another, which loses classes. */
import { ProxyError, type ProxyErrorOptions } from './proxy-error.ts'

/** What a thread tells of an error: all of one that a client may get, but for its cause; of any other its message. */
export type CarriedError = { refusal: ProxyErrorOptions } | { failure: string }

export function carryError(error: unknown): CarriedError {
  if (!(error instanceof ProxyError)) return { failure: error instanceof Error ? error.message : String(error) }
  const { status, code, message, type, param, headers } = error
  return { refusal: { status, code, message, type, headers, ...(param === null ? {} : { param }) } }
}

export function restoreError(carried: CarriedError): Error {
  return 'refusal' in carried ? new ProxyError(carried.refusal) : new Error(carried.failure)
}
