/** Rate windows and exact entries, batched: requests of one key from one address that wait together are counted together. */
import type { FastStore, PassVerdict, Window } from '../redis/fast-store.ts'
import { createBatcher } from './batcher.ts'
import { databaseUnavailable } from './refusals.ts'

const MAX_BATCH = 1_000
/** The store behind falls back by itself long before. */
const TIME_LIMIT_MS = 2_000

export interface PassAsk {
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

interface Group {
  windows: readonly Window[]
  requests: number
  entries: Map<string, number>
  verdict: Promise<PassVerdict>
  left: number
}

async function runBatch(store: FastStore, asks: readonly PassAsk[]): Promise<PassReply[]> {
  const groups = new Map<string, Group>()
  const groupOf = asks.map(ask => {
    const name = ask.windows.map(window => `${window.name} ${window.limit}`).join('\n')
    let group = groups.get(name)
    if (!group) {
      group = { windows: ask.windows, requests: 0, entries: new Map(), verdict: Promise.resolve(NO_VERDICT), left: 0 }
      groups.set(name, group)
    }
    group.requests++
    if (ask.entry !== null && !group.entries.has(ask.entry)) group.entries.set(ask.entry, group.entries.size)
    return group
  })
  for (const group of groups.values()) {
    group.verdict = store.pass({ requests: group.requests, windows: group.windows, entries: [...group.entries.keys()] })
  }
  for (const group of groups.values()) group.left = (await group.verdict).granted
  return Promise.all(asks.map(async (ask, i) => reply(ask, groupOf[i] as Group)))
}

async function reply(ask: PassAsk, group: Group): Promise<PassReply> {
  const verdict = await group.verdict
  const passed = group.left > 0
  if (passed) group.left--
  const at = ask.entry === null ? undefined : group.entries.get(ask.entry)
  return {
    passed,
    countedAtSecond: verdict.countedAtSecond,
    waitMs: verdict.waitMs,
    fullWindow: passed ? null : (fullest(group.windows, verdict.totals) ?? null),
    entry: passed && at !== undefined ? (verdict.entries[at] ?? null) : null,
  }
}

function fullest(windows: readonly Window[], totals: readonly number[]): Window | undefined {
  return windows.find((window, i) => (totals[i] ?? 0) >= window.limit) ?? windows[0]
}

const NO_VERDICT: PassVerdict = { granted: 0, countedAtSecond: 0, waitMs: 0, totals: [], entries: [] }
