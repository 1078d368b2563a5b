/** Whether a request may be answered from the cache, and its response stored: the project's cache mode decides. */

import type { JsonObject } from '../json/json-object.ts'
import type { Account } from '../postgres/admit.ts'

/**
 * all: a repeat is answered from the cache, however it is sampled. deterministic: only if the request asks for the same response each
 * time, with temperature 0 or a seed. off: never. Identical requests in flight share a call under the same rule.
 */
export type CacheMode = Account['cache_mode']

/** `body` is that of an operation that samples. Embeddings are the same each time: only `off` concerns them. */
export function mayCache(body: JsonObject, mode: CacheMode): boolean {
  if (mode !== 'deterministic') return mode === 'all'
  return body.temperature === 0 || Number.isInteger(body.seed)
}
