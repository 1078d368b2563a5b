/** Rate limits on endpoints without quota, health and the list of models: by client address, per process. */
import { refuse } from '../errors.ts'
import type { FastStore } from '../stores/fast-store.ts'

/** Load balancers and monitors ask often, and the result is computed once a second only. */
const HEALTH_PER_MINUTE = 1_200
/** Each one asks the database whether the key is good. */
const MODELS_PER_MINUTE = 300

export interface EdgeWindows {
  /** Throws a 429 when the address has asked too often. Independent of keys and their limits. */
  passHealth(addressPrefix: string): Promise<void>
  passModels(addressPrefix: string): Promise<void>
}

/** `store` is this process's own, so that health is reported even when Redis hangs. */
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
