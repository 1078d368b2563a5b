/**
 * A fast store that never fails a request. While Redis is out of reach, entries are misses, and this process counts windows from what it
 * last saw. When Redis is back, it gets everything it does not know.
 */
import { createTimeLimit } from '../event-loop/time-limit.ts'
import type { FastStore, PassBatch, PassVerdict } from './fast-store.ts'
import { WindowMemory } from './window-memory.ts'

/** Redis answers in well under a millisecond; one that takes this long counts as gone. */
const TIME_LIMIT_MS = 500
/** After a failure Redis is left alone this long, so that a hanging one does not slow every request. */
const RETRY_AFTER_MS = 500

/** Called when the store is lost, with the reason, and when it is back. */
type OnStoreChange = (isUp: boolean, cause?: unknown) => void

export interface GuardedStore extends FastStore {
  /** Whether the store answered the last attempt. */
  isUp(): boolean
}

export interface GuardOptions {
  /** How many processes share the store. While it is away, each of them grants its share of every limit. */
  processes?: number
  onChange?: OnStoreChange
}

export function guardStore(store: FastStore, { processes = 1, onChange }: GuardOptions = {}): GuardedStore {
  const memory = new WindowMemory(processes)
  const guard = new StoreGuard(onChange)

  /** Redis's reply is remembered even when it comes too late for the request. */
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

  const nothing = () => {}
  return {
    kind: store.kind,
    isUp: () => guard.isUp,
    pass(batch: PassBatch): Promise<PassVerdict> {
      let isCountedHere = false
      async function attempt(): Promise<PassVerdict> {
        const verdict = await passInStore(batch)
        if (isCountedHere) await uncountTwice(store, batch, verdict)
        return verdict
      }
      return guard.try(attempt, () => {
        isCountedHere = true
        return markLocal(memory.passAlone(batch))
      })
    },
    // The sign tells which store counted the request; it is taken back there, even if the other store is in use now.
    uncount: async (names, requests, second) =>
      isLocal(second)
        ? memory.uncountAlone(names, requests, -second)
        : guard.try(() => store.uncount(names, requests, second), nothing),
    writeEntry: (name, bytes, ttlMs) =>
      guard.try(
        () => store.writeEntry(name, bytes, ttlMs),
        () => false,
      ),
    deleteEntry: name => guard.try(() => store.deleteEntry(name), nothing),
    readEntries: names =>
      guard.try(
        () => store.readEntries(names),
        () => names.map(() => null),
      ),
    writeEntries: entries =>
      guard.try(
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

/** Its reply came too late, and this process counted the batch meanwhile: Redis's count is taken back. */
async function uncountTwice(
  store: FastStore,
  { windows }: PassBatch,
  { granted, countedAtSecond }: PassVerdict,
): Promise<void> {
  if (granted === 0) return
  const names = windows.map(window => window.name)
  await store.uncount(names, granted, countedAtSecond).catch(() => {})
}

/** A negative second marks a count made by this process. */
function markLocal(verdict: PassVerdict): PassVerdict {
  return { ...verdict, countedAtSecond: -verdict.countedAtSecond }
}

function isLocal(second: number): boolean {
  return second < 0
}

/** Calls the store behind it with a time limit, and after a failure leaves it alone for a moment. */
class StoreGuard {
  readonly #onChange: OnStoreChange | undefined
  readonly #withinLimit = createTimeLimit(TIME_LIMIT_MS)
  #retryAtMs = 0
  #isUp = true

  constructor(onChange: OnStoreChange | undefined) {
    this.#onChange = onChange
  }

  /** Whether the store answered the last attempt. */
  get isUp(): boolean {
    return this.#isUp
  }

  /** Runs `attempt` on the store, or `otherwise` while it is down. */
  async try<T>(attempt: () => Promise<T>, otherwise: () => T | Promise<T>): Promise<T> {
    const now = performance.now()
    if (now < this.#retryAtMs) return otherwise()
    // One caller at a time probes a store that was down.
    if (!this.#isUp) this.#retryAtMs = now + RETRY_AFTER_MS
    try {
      const result = await this.#withinLimit(attempt())
      this.#retryAtMs = 0
      this.#note(true)
      return result
    } catch (error) {
      this.#retryAtMs = performance.now() + RETRY_AFTER_MS
      this.#note(false, error)
      return otherwise()
    }
  }

  #note(isUp: boolean, cause?: unknown): void {
    if (this.#isUp === isUp) return
    this.#isUp = isUp
    this.#onChange?.(isUp, cause)
  }
}
