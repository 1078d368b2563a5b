/** What a provider tells who asks it for an operation it does not have. */
import { ProxyError } from '../errors.ts'
import type { Endpoint } from './upstream.ts'

/** 404 that names the operation to use instead. `vendor`: as the vendor writes itself. */
export function unsupportedEndpoint(vendor: string, endpoint: Endpoint): ProxyError {
  return new ProxyError({
    status: 404,
    code: 'unsupported_endpoint',
    message: `${vendor}'s models answer POST /v1/chat/completions alone, not /v1/${endpoint}.`,
    param: 'model',
  })
}

/** The same of what is passed on: `path` with a slash in front. */
export function unsupportedPath(vendor: string, path: string): ProxyError {
  return new ProxyError({
    status: 404,
    code: 'unsupported_endpoint',
    message: `${vendor} has no /v1${path} here: name a model of another provider, whose key the project has stored or that the aggregator reaches.`,
    param: 'model',
  })
}
