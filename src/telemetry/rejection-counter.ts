/** Counts rejected requests by reason and address, and logs each reason at most once a second. */
import type { Log } from './log.ts'

const LOG_EVERY_MS = 1_000
/** The addresses in one log line, those with the most rejections first. */
const LOGGED_ADDRESSES = 5
/** The number of addresses that are counted separately between two lines. Further addresses are counted together. */
const MAX_ADDRESSES = 10_000
const OTHERS = 'others'

export interface RejectionCounter {
  /** Counts a rejection. `reason` is the error's code; `addressPrefix` is the prefix by which rate windows count. */
  record(reason: string, addressPrefix: string): void
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

  return {
    record(reason, addressPrefix) {
      totals.set(reason, (totals.get(reason) ?? 0) + 1)
      const pending = unlogged.get(reason) ?? { count: 0, byAddress: new Map<string, number>() }
      unlogged.set(reason, pending)
      pending.count++
      const { byAddress } = pending
      const name = byAddress.size < MAX_ADDRESSES || byAddress.has(addressPrefix) ? addressPrefix : OTHERS
      byAddress.set(name, (byAddress.get(name) ?? 0) + 1)
      if (!recentlyLogged.has(reason)) logReason(reason)
    },
    totals: () => Object.fromEntries(totals),
  }
}
