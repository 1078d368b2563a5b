/** The fast store without Redis. Windows and entries are in this process's memory. */
import { LRUCache } from 'lru-cache'
import { monotonicMs } from '../event-loop/clock.ts'
import {
  type CountBatch,
  type CountResult,
  computeGranted,
  type FastStore,
  readAliasTarget,
  WINDOW_SECONDS,
} from './fast-store.ts'
import { SIGNATURE_BYTES } from './signed-store.ts'
import {
  addToWindow,
  advanceWindow,
  createWindow,
  removeFromWindow,
  type SlidingWindow,
  timeUntilCapacityMs,
} from './sliding-window.ts'

export interface InProcessStoreOptions {
  /** Maximum bytes of entries. The least recently used are evicted first. */
  maxEntryBytes?: number
  /** Milliseconds since the epoch. */
  now?: () => number
}

export function createInProcessStore({
  maxEntryBytes = 128 * 1024 * 1024,
  now = monotonicMs,
}: InProcessStoreOptions = {}): FastStore {
  const windows = new Map<string, SlidingWindow>()
  const entries = new EntryMemory(maxEntryBytes)

  function count(batch: CountBatch): CountResult {
    const nowMs = now()
    const second = Math.floor(nowMs / 1000)
    const states = batch.windows.map(window => openWindow(windows, window.name, second))
    const capacities = batch.windows.map((window, i) => window.limit - (states[i]?.total ?? 0))
    const granted = computeGranted(batch, capacities)
    for (const state of states) addToWindow(state, second, granted)
    const requested = batch.isAllOrNothing ? batch.requests : 1
    const waits = batch.windows.map((window, i) => timeUntilCapacityMs(states[i], window.limit, nowMs, requested))
    return {
      granted,
      receipt: { second, isInStore: true },
      waitMs: granted < batch.requests ? Math.max(0, ...waits) : 0,
      totals: states.map(state => state.total),
      entries: batch.entries.map(name => (granted > 0 ? entries.readWithTarget(name, nowMs) : null)),
    }
  }

  // A window unused for its whole length is empty.
  const sweep = setInterval(() => {
    const oldest = Math.floor(now() / 1000) - WINDOW_SECONDS
    for (const [name, state] of windows) if (state.lastSecond < oldest) windows.delete(name)
  }, 10_000)
  sweep.unref()

  return {
    kind: 'in-process',
    count: async batch => count(batch),
    async uncount(windowNames, requests, { second }) {
      for (const name of windowNames) removeFromWindow(windows.get(name), requests, second)
    },
    async writeEntry(name, bytes, ttlMs) {
      entries.write(name, bytes, now() + ttlMs)
      return true
    },
    deleteEntry: async name => entries.delete(name),
    async readEntries(names) {
      const nowMs = now()
      return names.map(name => entries.read(name, nowMs))
    },
    async writeEntries(written) {
      const nowMs = now()
      for (const { name, bytes, ttlMs } of written) entries.write(name, bytes, nowMs + ttlMs)
      return true
    },
    async ping() {},
    async close() {
      clearInterval(sweep)
    },
  }
}

function openWindow(windows: Map<string, SlidingWindow>, name: string, second: number): SlidingWindow {
  let window = windows.get(name)
  if (!window) {
    window = createWindow(second)
    windows.set(name, window)
  }
  advanceWindow(window, second)
  return window
}

interface Entry {
  bytes: Uint8Array
  expiresAtMs: number
}

/** Entries up to a number of bytes. The least recently used are evicted first. */
class EntryMemory {
  readonly #entries: LRUCache<string, Entry>

  constructor(maxBytes: number) {
    this.#entries = new LRUCache({ maxSize: maxBytes, sizeCalculation: ({ bytes }) => Math.max(1, bytes.byteLength) })
  }

  read(name: string, nowMs: number): Uint8Array | null {
    const entry = this.#entries.get(name)
    if (!entry) return null
    if (entry.expiresAtMs > nowMs) return entry.bytes
    this.#entries.delete(name)
    return null
  }

  /** Returns an entry. An alias is followed by the entry that it names, as in windows.lua. */
  readWithTarget(name: string, nowMs: number): Uint8Array | null {
    const stored = this.read(name, nowMs)
    const target = stored && (readAliasTarget(stored, 0) ?? readAliasTarget(stored, SIGNATURE_BYTES))
    if (!target) return stored
    const entry = this.read(target, nowMs)
    return entry && Buffer.concat([stored, entry])
  }

  write(name: string, bytes: Uint8Array, expiresAtMs: number): void {
    this.#entries.set(name, { bytes, expiresAtMs })
  }

  delete(name: string): void {
    this.#entries.delete(name)
  }
}
