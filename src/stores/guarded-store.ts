/**
 * The fast store that never fails a request. While Redis is out of reach entries are missed, and windows are kept by this process,
 * from what it had seen of them; when Redis is back, whatever it does not know of them it is told.
 */
import { createTimeLimit } from '../event-loop/time-limit.ts'
import type { FastStore, PassBatch, PassVerdict } from './fast-store.ts'
import { createWindowMemory } from './window-memory.ts'

/** Redis answers in well under a millisecond; one that takes this long is as good as gone. */
const TIME_LIMIT_MS = 500
/** After a failure Redis is left alone this long, so that a hanging one does not slow every request. */
const RETRY_AFTER_MS = 500

export interface GuardedStore extends FastStore {
  /** Whether the store answered last time it was tried. */
  isUp(): boolean
}

export interface GuardOptions {
  /** How many processes share the store: while it is away, each lets its share of every limit through. */
  processes?: number
  /** Told when the store is lost, with the reason, and when it is back. */
  onChange?(up: boolean, cause?: unknown): void
}

export function guardStore(store: FastStore, { processes = 1, onChange }: GuardOptions = {}): GuardedStore {
  const memory = createWindowMemory(processes)
  const withinLimit = createTimeLimit(TIME_LIMIT_MS)
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
      const result = await withinLimit(attempt())
      retryAtMs = 0
      note(true)
      return result
    } catch (error) {
      retryAtMs = performance.now() + RETRY_AFTER_MS
      note(false, error)
      return otherwise()
    }
  }

  /** What Redis was told is noted also where its answer comes too late for the request. */
  async function passInStore(batch: PassBatch): Promise<PassVerdict> {
    const recalled = memory.recall(batch)
    try {
      const verdict = await store.pass(recalled)
      memory.noteCounted(recalled, verdict)
      return verdict
    } catch (error) {
      memory.noteFailed(recalled)
      throw error
    }
  }

  /** A batch whose answer came too late was counted by this process meanwhile. */
  async function uncountTwice({ windows }: PassBatch, { granted, countedAtSecond }: PassVerdict): Promise<void> {
    if (granted === 0) return
    const names = windows.map(window => window.name)
    await store.uncount(names, granted, countedAtSecond).catch(() => {})
  }

  const nothing = () => {}
  return {
    kind: store.kind,
    isUp: () => up,
    pass(batch: PassBatch): Promise<PassVerdict> {
      let isCountedHere = false
      async function attempt(): Promise<PassVerdict> {
        const verdict = await passInStore(batch)
        if (isCountedHere) await uncountTwice(batch, verdict)
        return verdict
      }
      return tryStore(attempt, () => {
        isCountedHere = true
        return markLocal(memory.passAlone(batch))
      })
    },
    // Back to where it was counted, even if the other store has taken over since.
    uncount: async (names, requests, second) =>
      isLocal(second)
        ? memory.uncountAlone(names, requests, -second)
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
      memory.close()
      await store.close()
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
