/** Counts rejected requests by reason, key and address, logs each reason at most once a second, and records the counts. */

import { withTimeout } from '../event-loop/timeouts.ts'
import { callFunction } from '../postgres/call.ts'
import type { Database } from '../postgres/database.ts'
import type { Log } from './log.ts'

const LOG_EVERY_MS = 1_000
/** The addresses in one log line, those with the most rejections first. */
const LOGGED_ADDRESSES = 5
/** The number of addresses that are counted separately between two lines. Further addresses are counted together. */
const MAX_ADDRESSES = 10_000
const OTHERS = 'others'
/** The number of reasons and keys that are counted separately between two calls of `take`. Keys beyond it are counted as none: clients make up keys. */
const MAX_COUNTS = 10_000

/** Rejected requests with one error code and key: hex SHA-256 of a key, which may never have been issued; `''` for none. */
export interface RejectionCount {
  reason: string
  keyHash: string
  count: number
}

export interface RejectionCounter {
  /** Counts a rejection. `reason` is the error's code; `addressPrefix` is the prefix by which rate windows count; `keyHash` as in RejectionCount. */
  record(reason: string, addressPrefix: string, keyHash?: string): void
  /** Returns the rejections since the last call. */
  take(): RejectionCount[]
  /** Returns the rejections since the start, by reason. */
  totals(): Record<string, number>
}

/** Returns whether the status is a rejection of the caller or by its limits. Invalid requests do not count. */
export function isCountedRejection({ status }: { status: number }): boolean {
  return status === 401 || status === 403 || status === 429
}

interface Unlogged {
  count: number
  byAddress: Map<string, number>
}

export function createRejectionCounter(log: Pick<Log, 'info'>): RejectionCounter {
  const totals = new Map<string, number>()
  let counts = new Map<string, RejectionCount>()
  const unlogged = new Map<string, Unlogged>()
  /** Reasons logged less than a second ago. */
  const recentlyLogged = new Set<string>()

  function logReason(reason: string): void {
    const pending = unlogged.get(reason)
    if (!pending) return void recentlyLogged.delete(reason)
    unlogged.delete(reason)
    recentlyLogged.add(reason)
    setTimeout(logReason, LOG_EVERY_MS, reason).unref()
    const busiest = [...pending.byAddress].sort((a, b) => b[1] - a[1]).slice(0, LOGGED_ADDRESSES)
    const total = totals.get(reason)
    log.info({ reason, count: pending.count, total, addresses: Object.fromEntries(busiest) }, 'requests rejected')
  }

  function countByKey(reason: string, keyHash: string): void {
    const name = `${reason} ${keyHash}`
    const known = counts.get(name)
    if (known) known.count++
    else if (keyHash !== '' && counts.size >= MAX_COUNTS) countByKey(reason, '')
    else counts.set(name, { reason, keyHash, count: 1 })
  }

  return {
    record(reason, addressPrefix, keyHash = '') {
      totals.set(reason, (totals.get(reason) ?? 0) + 1)
      countByKey(reason, keyHash)
      const pending = unlogged.get(reason) ?? { count: 0, byAddress: new Map<string, number>() }
      unlogged.set(reason, pending)
      pending.count++
      const { byAddress } = pending
      const name = byAddress.size < MAX_ADDRESSES || byAddress.has(addressPrefix) ? addressPrefix : OTHERS
      byAddress.set(name, (byAddress.get(name) ?? 0) + 1)
      if (!recentlyLogged.has(reason)) logReason(reason)
    },
    take() {
      const taken = [...counts.values()]
      counts = new Map()
      return taken
    },
    totals: () => Object.fromEntries(totals),
  }
}

const WRITE_EVERY_MS = 5_000
const PART = 'rejections'

export interface RejectionRecorder {
  /** Resolves when everything has been written, or the time is up. */
  drain(timeLimitMs: number): Promise<void>
  stop(): void
}

/** Records the counts every few seconds, so that operators see them across processes and restarts. */
export function createRejectionRecorder(
  database: Database,
  counter: Pick<RejectionCounter, 'take'>,
  { failures }: Pick<Log, 'failures'>,
): RejectionRecorder {
  let unwritten: RejectionCount[] = []
  let writing: Promise<void> | null = null

  async function write(): Promise<void> {
    unwritten.push(...counter.take())
    if (unwritten.length === 0) return
    await callFunction(database, 'record_rejections', {
      reasons: unwritten.map(({ reason }) => reason),
      key_hashes: unwritten.map(({ keyHash }) => keyHash),
      counts: unwritten.map(({ count }) => count),
    })
    unwritten = []
    failures.recover('request_detail', PART)
  }

  /** Starts a write unless one is in flight. Counts that could not be written are written with the next ones. */
  function startWriting(): Promise<void> {
    writing ??= write()
      .catch(error =>
        failures.report('request_detail', error, 'counts of rejections could not be written', { part: PART }),
      )
      .finally(() => {
        writing = null
      })
    return writing
  }

  const timer = setInterval(startWriting, WRITE_EVERY_MS)
  timer.unref()
  return {
    async drain(timeLimitMs) {
      // The last write does not include rejections that were counted while it was in flight.
      await writing
      await withTimeout(timeLimitMs, startWriting()).catch(() => {})
    },
    stop() {
      clearInterval(timer)
    },
  }
}
