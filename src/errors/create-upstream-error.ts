/** An upstream's error in its own words: the one kind that the catalogue cannot list. */
import { ProxyError, type ProxyErrorOptions } from './proxy-error.ts'

/** Returns the error to throw, in the same format as the proxy's own errors. */
export function createUpstreamError(
  reported: Pick<ProxyErrorOptions, 'status' | 'code' | 'message' | 'type'>,
): ProxyError {
  return new ProxyError({ ...reported, replacesResponse: true })
}
