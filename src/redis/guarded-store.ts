/** The fast store that never fails a request: while Redis is out of reach, windows are kept by this process and entries are missed. */
import type { FastStore, PassBatch, PassVerdict } from './fast-store.ts'
import { createInProcessStore } from './in-process-store.ts'

/** After a failure Redis is left alone this long, so that a hanging one does not slow every request. */
const RETRY_AFTER_MS = 500

export interface GuardedStore extends FastStore {
  /** Whether the store answered last time it was tried. */
  isUp(): boolean
}

export function guardStore(store: FastStore): GuardedStore {
  const local = createInProcessStore()
  let downUntilMs = 0
  let up = true

  /** Runs `attempt` on the store, or `otherwise` while it is down. */
  async function tryStore<T>(attempt: () => Promise<T>, otherwise: () => Promise<T>): Promise<T> {
    const now = performance.now()
    if (now < downUntilMs) return otherwise()
    // One caller at a time finds out whether a store that was down is back.
    if (!up) downUntilMs = now + RETRY_AFTER_MS
    try {
      const result = await attempt()
      up = true
      downUntilMs = 0
      return result
    } catch {
      up = false
      downUntilMs = performance.now() + RETRY_AFTER_MS
      return otherwise()
    }
  }

  const nothing = async () => {}
  return {
    kind: store.kind,
    isUp: () => up,
    pass: (batch: PassBatch): Promise<PassVerdict> =>
      tryStore(
        () => store.pass(batch),
        () => local.pass(batch),
      ),
    uncount: (names, requests, second) =>
      tryStore(
        () => store.uncount(names, requests, second),
        () => local.uncount(names, requests, second),
      ),
    writeEntry: (name, bytes, ttlMs) => tryStore(() => store.writeEntry(name, bytes, ttlMs), nothing),
    deleteEntry: name => tryStore(() => store.deleteEntry(name), nothing),
    ping: () => store.ping(),
    async close() {
      await Promise.all([store.close(), local.close()])
    },
  }
}
