/** Limits on what costs nothing and needs no quota: health and the list of models, by client address and process. */
import { refuse } from '../errors.ts'
import type { FastStore } from '../stores/fast-store.ts'

/** Balancers and monitors ask often, and get an answer that is made once a second. */
const HEALTH_PER_MINUTE = 1_200
/** Each asks the database whether the key is good. */
const MODELS_PER_MINUTE = 300

export interface EdgeWindows {
  /** Throws a 429 where the address has asked too often. Keys and their limits are none of its business. */
  passHealth(addressPrefix: string): Promise<void>
  passModels(addressPrefix: string): Promise<void>
}

/** `store`: this process's own, so that health is told also when Redis hangs. */
export function createEdgeWindows(store: Pick<FastStore, 'pass'>): EdgeWindows {
  async function pass(kind: string, addressPrefix: string, limit: number): Promise<void> {
    const windows = [{ name: `${kind}:${addressPrefix}`, limit }]
    const { granted, waitMs } = await store.pass({ requests: 1, windows, entries: [] })
    if (granted === 0) throw refuse('edgeRateLimited', { seconds: Math.max(1, Math.ceil(waitMs / 1000)) })
  }
  return {
    passHealth: addressPrefix => pass('health', addressPrefix, HEALTH_PER_MINUTE),
    passModels: addressPrefix => pass('models', addressPrefix, MODELS_PER_MINUTE),
  }
}
