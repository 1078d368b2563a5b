/** What a request that may not pass is told. */
import { type ProxyError, refuse } from '../errors.ts'

/** 429 with what a client needs in order to come back in time. */
export function rateLimitExceeded(limit: number, waitMs: number): ProxyError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000))
  return refuse('rateLimited', { limit, seconds })
}
