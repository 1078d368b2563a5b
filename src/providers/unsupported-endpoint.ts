/** The errors for operations that a provider lacks. */
import { type ProxyError, refuse } from '../errors.ts'
import type { Endpoint } from './upstream.ts'

/** 404 that names the operation to use instead. `vendor` is the vendor's name for messages. */
export function unsupportedEndpoint(vendor: string, endpoint: Endpoint): ProxyError {
  return refuse('endpointUnsupported', { vendor, endpoint })
}

/** The same for a pass-through operation: `path` begins with a slash. */
export function unsupportedPath(vendor: string, path: string): ProxyError {
  return refuse('pathUnsupported', { vendor, path })
}
