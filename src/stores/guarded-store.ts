/** The fast store that never fails a request: while Redis is out of reach, windows are kept by this process and entries are missed. */
import { withinTimeLimit } from '../event-loop/time-limit.ts'
import type { FastStore, PassBatch, PassVerdict } from './fast-store.ts'
import { createInProcessStore } from './in-process-store.ts'

/** Redis answers in well under a millisecond; one that takes this long is as good as gone. */
const TIME_LIMIT_MS = 500
/** After a failure Redis is left alone this long, so that a hanging one does not slow every request. */
const RETRY_AFTER_MS = 500

export interface GuardedStore extends FastStore {
  /** Whether the store answered last time it was tried. */
  isUp(): boolean
}

export interface GuardOptions {
  /** Told when the store is lost, with the reason, and when it is back. */
  onChange?(up: boolean, cause?: unknown): void
}

export function guardStore(store: FastStore, { onChange }: GuardOptions = {}): GuardedStore {
  const local = createInProcessStore()
  let retryAtMs = 0
  let up = true

  function note(isUp: boolean, cause?: unknown): void {
    if (up === isUp) return
    up = isUp
    onChange?.(isUp, cause)
  }

  /** Runs `attempt` on the store, or `otherwise` while it is down. */
  async function tryStore<T>(attempt: () => Promise<T>, otherwise: () => T | Promise<T>): Promise<T> {
    const now = performance.now()
    if (now < retryAtMs) return otherwise()
    // One caller at a time finds out whether a store that was down is back.
    if (!up) retryAtMs = now + RETRY_AFTER_MS
    try {
      const result = await withinTimeLimit(TIME_LIMIT_MS, attempt())
      retryAtMs = 0
      note(true)
      return result
    } catch (error) {
      retryAtMs = performance.now() + RETRY_AFTER_MS
      note(false, error)
      return otherwise()
    }
  }

  const nothing = () => {}
  return {
    kind: store.kind,
    isUp: () => up,
    pass: (batch: PassBatch): Promise<PassVerdict> =>
      tryStore(
        () => store.pass(batch),
        async () => markLocal(await local.pass(batch)),
      ),
    // Back to where it was counted, even if the other store has taken over since.
    uncount: (names, requests, second) =>
      isLocal(second)
        ? local.uncount(names, requests, -second)
        : tryStore(() => store.uncount(names, requests, second), nothing),
    writeEntry: (name, bytes, ttlMs) => tryStore(() => store.writeEntry(name, bytes, ttlMs), nothing),
    deleteEntry: name => tryStore(() => store.deleteEntry(name), nothing),
    readEntries: names =>
      tryStore(
        () => store.readEntries(names),
        () => names.map(() => null),
      ),
    writeEntries: entries =>
      tryStore(
        () => store.writeEntries(entries),
        () => false,
      ),
    ping: () => store.ping(),
    async close() {
      await Promise.all([store.close(), local.close()])
    },
  }
}

/** A second in which this process itself counted is told by its sign. */
function markLocal(verdict: PassVerdict): PassVerdict {
  return { ...verdict, countedAtSecond: -verdict.countedAtSecond }
}

function isLocal(second: number): boolean {
  return second < 0
}
