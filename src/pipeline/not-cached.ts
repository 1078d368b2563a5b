/** The refusal of who wants a stored answer or none. */
import { ProxyError } from '../errors.ts'

export function notCached(): ProxyError {
  return new ProxyError({
    status: 504,
    code: 'not_cached',
    message: 'There is no stored answer to this request, and Cache-Control: only-if-cached allows no other.',
    param: 'Cache-Control',
  })
}
