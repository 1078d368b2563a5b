/** The fast store without Redis: the same windows and entries in this process's memory. */
import { TAG_BYTES } from './entry-tags.ts'
import { aliasTarget, type FastStore, type PassBatch, type PassVerdict, WINDOW_SECONDS } from './fast-store.ts'
import {
  addToWindow,
  createWindow,
  moveWindow,
  type SlidingWindow,
  takeFromWindow,
  waitForRoomMs,
} from './sliding-window.ts'

interface Entry {
  bytes: Uint8Array
  expiresAtMs: number
}

export interface InProcessStoreOptions {
  /** Most bytes of entries kept; the least recently used go first. */
  maxEntryBytes?: number
  /** Milliseconds since the epoch. */
  now?: () => number
}

export function createInProcessStore({
  maxEntryBytes = 128 * 1024 * 1024,
  now = Date.now,
}: InProcessStoreOptions = {}): FastStore {
  const windows = new Map<string, SlidingWindow>()
  const entries = new Map<string, Entry>()
  let entryBytes = 0

  function pass(batch: PassBatch): PassVerdict {
    const nowMs = now()
    const second = Math.floor(nowMs / 1000)
    const states = batch.windows.map(window => openWindow(windows, window.name, second))
    const rooms = batch.windows.map((window, i) => window.limit - (states[i]?.total ?? 0))
    const granted = Math.max(0, Math.min(batch.requests, ...rooms))
    for (const state of states) addToWindow(state, second, granted)
    const waits = batch.windows.map((window, i) => waitForRoomMs(states[i], window.limit, nowMs))
    return {
      granted,
      countedAtSecond: second,
      waitMs: granted < batch.requests ? Math.max(0, ...waits) : 0,
      totals: states.map(state => state.total),
      entries: batch.entries.map(name => (granted > 0 ? readNamed(name, nowMs) : null)),
    }
  }

  /** As in windows.lua: an alias is given with the entry that it names. */
  function readNamed(name: string, nowMs: number): Uint8Array | null {
    const stored = readEntry(name, nowMs)
    const target = stored && (aliasTarget(stored, 0) ?? aliasTarget(stored, TAG_BYTES))
    if (!target) return stored
    const entry = readEntry(target, nowMs)
    return entry && Buffer.concat([stored, entry])
  }

  function readEntry(name: string, nowMs: number): Uint8Array | null {
    const entry = entries.get(name)
    if (!entry) return null
    forget(name)
    if (entry.expiresAtMs <= nowMs) return null
    keep(name, entry)
    return entry.bytes
  }

  function writeEntry(name: string, bytes: Uint8Array, ttlMs: number): void {
    forget(name)
    keep(name, { bytes, expiresAtMs: now() + ttlMs })
    for (const oldest of entries.keys()) {
      if (entryBytes <= maxEntryBytes) break
      forget(oldest)
    }
  }

  function keep(name: string, entry: Entry): void {
    entries.set(name, entry)
    entryBytes += entry.bytes.byteLength
  }

  function forget(name: string): void {
    entryBytes -= entries.get(name)?.bytes.byteLength ?? 0
    entries.delete(name)
  }

  // Windows that nobody used for a minute are empty.
  const sweep = setInterval(() => {
    const oldest = Math.floor(now() / 1000) - WINDOW_SECONDS
    for (const [name, state] of windows) if (state.lastSecond < oldest) windows.delete(name)
  }, 10_000)
  sweep.unref()

  return {
    kind: 'in-process',
    pass: async batch => pass(batch),
    async uncount(windowNames, requests, countedAtSecond) {
      for (const name of windowNames) takeFromWindow(windows.get(name), requests, countedAtSecond)
    },
    writeEntry: async (name, bytes, ttlMs) => writeEntry(name, bytes, ttlMs),
    async deleteEntry(name) {
      forget(name)
    },
    async readEntries(names) {
      const nowMs = now()
      return names.map(name => readEntry(name, nowMs))
    },
    async writeEntries(written) {
      for (const { name, bytes, ttlMs } of written) writeEntry(name, bytes, ttlMs)
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
  moveWindow(window, second)
  return window
}
