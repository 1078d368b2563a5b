/** Creates an error with the message that an upstream reported. The catalogue cannot list such errors. */
import { ProxyError, type ProxyErrorOptions } from './proxy-error.ts'

/** Returns the error to throw, in the same format as the proxy's own errors. */
export function createUpstreamError(
  reported: Pick<ProxyErrorOptions, 'status' | 'code' | 'message' | 'type'>,
): ProxyError {
  return new ProxyError({ ...reported, replacesResponse: true })
}
