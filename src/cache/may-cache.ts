/** Whether a request may be answered from the cache, and its answer kept: by the project's cache mode. */

import type { JsonObject } from '../json/json-object.ts'
import type { Account } from '../postgres/admit.ts'

/**
 * all: a repeat is answered from the cache, however it is sampled. deterministic: only where the request asks for the same
 * answer each time, with temperature 0 or a seed. off: never. Identical requests that are in flight share a call under the
 * same rule.
 */
export type CacheMode = Account['cache_mode']

/** `body`: of any operation that samples; embeddings are the same each time, and are no business of modes but `off`. */
export function mayCache(body: JsonObject, mode: CacheMode): boolean {
  if (mode !== 'deterministic') return mode === 'all'
  return body.temperature === 0 || Number.isInteger(body.seed)
}
