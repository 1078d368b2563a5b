/** What a provider tells who asks it for an operation it does not have. */
import { type ProxyError, refuse } from '../errors.ts'
import type { Endpoint } from './upstream.ts'

/** 404 that names the operation to use instead. `vendor`: as the vendor writes itself. */
export function unsupportedEndpoint(vendor: string, endpoint: Endpoint): ProxyError {
  return refuse('endpointUnsupported', { vendor, endpoint })
}

/** The same of what is passed on: `path` with a slash in front. */
export function unsupportedPath(vendor: string, path: string): ProxyError {
  return refuse('pathUnsupported', { vendor, path })
}
