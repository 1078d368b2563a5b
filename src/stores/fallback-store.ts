/**
 * A fast store that never fails a request. While Redis is out of reach, entries are misses, and this process counts windows from what it
 * last saw. When Redis is back, it gets everything it does not know.
 */
import { createSharedTimeout } from '../event-loop/timeouts.ts'
import type { CountBatch, CountResult, FastStore } from './fast-store.ts'
import { RateWindowMirror } from './rate-window-mirror.ts'

/** Redis answers in well under a millisecond; one that takes this long counts as gone. */
const TIME_LIMIT_MS = 500
/** After a failure Redis is left alone this long, so that a hanging one does not slow every request. */
const RETRY_AFTER_MS = 500

/** Called when the store, or one shard of it, is lost, with the reason, and when it is back. */
type OnStoreChange = (isUp: boolean, shard: string, cause?: unknown) => void

export interface FallbackStore extends FastStore {
  /** Whether each shard answered its last attempt. */
  isUp(): boolean
  /** Runs on the name's shard what else uses it; rejects at once while that is left alone. */
  runGuarded<T>(name: string, run: () => Promise<T>): Promise<T>
}

export interface FallbackStoreOptions {
  /** How many processes share the store. Cut off from it, each of them grants its share of every limit. */
  processCount?(): number
  onAvailabilityChange?: OnStoreChange
}

export function createFallbackStore(
  store: FastStore,
  { processCount = () => 1, onAvailabilityChange }: FallbackStoreOptions = {},
): FallbackStore {
  const memory = new RateWindowMirror(processCount)
  const guards = new ShardGuards(name => store.shardOf?.(name) ?? '', onAvailabilityChange)

  /** Redis's reply is remembered even when it comes too late for the request. */
  async function countInStore(batch: CountBatch): Promise<CountResult> {
    const recalled = memory.addUnreported(batch)
    try {
      const counted = await store.count(recalled)
      memory.recordCounted(recalled, counted)
      return counted
    } catch (error) {
      memory.recordFailed(recalled)
      throw error
    }
  }

  const nothing = () => {}
  return {
    kind: store.kind,
    ...(store.shardOf ? { shardOf: store.shardOf } : {}),
    isUp: () => guards.areUp(),
    runGuarded: (name, run) =>
      guards.of(name).try(run, () => {
        throw new StoreUnavailable()
      }),
    count(batch: CountBatch): Promise<CountResult> {
      let isCountedHere = false
      async function attempt(): Promise<CountResult> {
        const counted = await countInStore(batch)
        if (isCountedHere) await uncountTwice(store, batch, counted)
        return counted
      }
      return guards.of(batch.windows[0]?.name ?? '').try(attempt, () => {
        isCountedHere = true
        return memory.countWithoutRedis(batch)
      })
    },
    // Where it was counted, even if the other is in use now.
    uncount: async (names, requests, countedAt) =>
      countedAt.isInStore
        ? guards.of(names[0] ?? '').try(() => store.uncount(names, requests, countedAt), nothing)
        : memory.uncountWithoutRedis(names, requests, countedAt.second),
    writeEntry: (name, bytes, ttlMs) =>
      guards.of(name).try(
        () => store.writeEntry(name, bytes, ttlMs),
        () => false,
      ),
    deleteEntry: name => guards.of(name).try(() => store.deleteEntry(name), nothing),
    readEntries: names =>
      guards.of(names[0] ?? '').try(
        () => store.readEntries(names),
        () => names.map(() => null),
      ),
    writeEntries: entries =>
      guards.of(entries[0]?.name ?? '').try(
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
  { windows }: CountBatch,
  { granted, receipt }: CountResult,
): Promise<void> {
  if (granted === 0) return
  const names = windows.map(window => window.name)
  await store.uncount(names, granted, receipt).catch(() => {})
}

export class StoreUnavailable extends Error {
  override name = 'StoreDown'

  constructor() {
    super('Redis did not answer its last command')
  }
}

/** One guard for each shard: the projects of one must not wait for another. */
class ShardGuards {
  readonly #shardOf: (name: string) => string
  readonly #onChange: OnStoreChange | undefined
  readonly #guards = new Map<string, StoreGuard>()

  constructor(shardOf: (name: string) => string, onChange: OnStoreChange | undefined) {
    this.#shardOf = shardOf
    this.#onChange = onChange
  }

  of(name: string): StoreGuard {
    const shard = this.#shardOf(name)
    let guard = this.#guards.get(shard)
    if (!guard) {
      this.#forgetLost()
      guard = new StoreGuard((isUp, cause) => this.#onChange?.(isUp, shard, cause))
      this.#guards.set(shard, guard)
    }
    return guard
  }

  areUp(): boolean {
    return Array.from(this.#guards.values()).every(guard => guard.isUp)
  }

  /** A new server takes the place of a lost one. One that is lost still is noticed again. */
  #forgetLost(): void {
    for (const [shard, { isUp }] of this.#guards) {
      if (isUp) continue
      this.#guards.delete(shard)
      this.#onChange?.(true, shard)
    }
  }
}

/** Calls the store behind it with a time limit, and after a failure leaves it alone for a moment. */
class StoreGuard {
  readonly #onChange: (isUp: boolean, cause?: unknown) => void
  readonly #withinLimit = createSharedTimeout(TIME_LIMIT_MS)
  #retryAtMs = 0
  #isUp = true

  constructor(onChange: (isUp: boolean, cause?: unknown) => void) {
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
    this.#onChange(isUp, cause)
  }
}
