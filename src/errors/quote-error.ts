/** An upstream's own error, in its own words: the one kind that no catalogue can list. */
import { ProxyError, type ProxyErrorOptions } from './proxy-error.ts'

/** The error to throw, in the form of those of the proxy's own. */
export function quoteError(told: Pick<ProxyErrorOptions, 'status' | 'code' | 'message' | 'type'>): ProxyError {
  return new ProxyError(told)
}
