/** Rate windows and exact entries, batched: requests of one key from one address that wait together are counted together. */
import type { FastStore, PassVerdict, Window } from '../stores/fast-store.ts'
import { createBatcher } from './batcher.ts'
import { databaseUnavailable } from './refusals.ts'

const MAX_BATCH = 1_000
/** The store behind falls back by itself long before. */
const TIME_LIMIT_MS = 2_000

export interface PassAsk {
  /** Asks that hold the very same array are counted together. */
  windows: readonly Window[]
  /** Name of the exact entry to read, or null. */
  entry: string | null
}

export interface PassReply {
  passed: boolean
  countedAtSecond: number
  waitMs: number
  /** The window that is full, where one is. */
  fullWindow: Window | null
  /** Requests that fit before the first window is half full: so many are all but sure to pass. */
  room: number
  entry: Uint8Array | null
}

/** One function that counts a request in all its windows, or none, and reads its exact entry on the way. */
export function createRateWindows(store: FastStore): (ask: PassAsk) => Promise<PassReply> {
  return createBatcher<PassAsk, PassReply>({
    run: asks => runBatch(store, asks),
    maxItems: MAX_BATCH,
    timeLimitMs: TIME_LIMIT_MS,
    timeLimitError: databaseUnavailable,
  })
}

/** Asks that share their windows, hence one call. */
interface Group {
  windows: readonly Window[]
  requests: number
  /** Position of each entry in the call. */
  entries: Map<string, number>
  left: number
  room: number
}

async function runBatch(store: FastStore, asks: readonly PassAsk[]): Promise<PassReply[]> {
  const groups = new Map<readonly Window[], Group>()
  const groupOf = asks.map(ask => {
    let group = groups.get(ask.windows)
    if (!group) {
      group = { windows: ask.windows, requests: 0, entries: new Map(), left: 0, room: 0 }
      groups.set(ask.windows, group)
    }
    group.requests++
    if (ask.entry !== null && !group.entries.has(ask.entry)) group.entries.set(ask.entry, group.entries.size)
    return group
  })
  const verdicts = new Map(
    await Promise.all(
      Array.from(groups.values(), async group => {
        const { requests, windows, entries } = group
        const verdict = await store.pass({ requests, windows, entries: [...entries.keys()] })
        group.left = verdict.granted
        group.room = roomIn(windows, verdict.totals)
        return [group, verdict] as const
      }),
    ),
  )
  return asks.map((ask, i) => {
    const group = groupOf[i] as Group
    return reply(ask, group, verdicts.get(group) as PassVerdict)
  })
}

/** Grants go to the asks of a group in the order they came. */
function reply(ask: PassAsk, group: Group, verdict: PassVerdict): PassReply {
  const passed = group.left > 0
  if (passed) group.left--
  const at = ask.entry === null ? undefined : group.entries.get(ask.entry)
  return {
    passed,
    countedAtSecond: verdict.countedAtSecond,
    waitMs: verdict.waitMs,
    fullWindow: passed ? null : findFullWindow(group.windows, verdict.totals),
    room: group.room,
    entry: passed && at !== undefined ? (verdict.entries[at] ?? null) : null,
  }
}

function roomIn(windows: readonly Window[], totals: readonly number[]): number {
  return Math.max(0, Math.min(...windows.map((window, i) => Math.floor(window.limit / 2) - (totals[i] ?? 0))))
}

function findFullWindow(windows: readonly Window[], totals: readonly number[]): Window | null {
  return windows.find((window, i) => (totals[i] ?? 0) >= window.limit) ?? windows[0] ?? null
}
