/** The 429 of a rate window. */
import { type ProxyError, refuse } from '../errors.ts'

/** Tells the client when to come back. */
export function rateLimitExceeded(limit: number, waitMs: number): ProxyError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000))
  return refuse('rateLimited', { limit, seconds })
}
