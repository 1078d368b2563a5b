/** Counts refused requests by reason and address, and logs each reason at most once a second. */
import type { Log } from './log.ts'

const TELL_EVERY_MS = 1_000
/** Addresses in one log line, those with the most refusals first. */
const TOLD_ADDRESSES = 5
/** Addresses counted separately between two lines; beyond that, they count as one. */
const MAX_ADDRESSES = 10_000
const OTHERS = 'others'

export interface Refusals {
  /** `reason` is the error's code; `addressPrefix` is what rate windows count by. */
  note(reason: string, addressPrefix: string): void
  /** Refusals since the start, by reason. */
  totals(): Record<string, number>
}

/** Whether somebody may not ask, or not so often: what is wrong with a request is its client's business. */
export function isCountedRefusal({ status }: { status: number }): boolean {
  return status === 401 || status === 403 || status === 429
}

interface Untold {
  count: number
  byAddress: Map<string, number>
}

export function createRefusals(log: Pick<Log, 'info'>): Refusals {
  const totals = new Map<string, number>()
  const untold = new Map<string, Untold>()
  /** Reasons logged less than a second ago. */
  const resting = new Set<string>()

  function tell(reason: string): void {
    const news = untold.get(reason)
    if (!news) return void resting.delete(reason)
    untold.delete(reason)
    resting.add(reason)
    setTimeout(tell, TELL_EVERY_MS, reason).unref()
    const most = [...news.byAddress].sort((a, b) => b[1] - a[1]).slice(0, TOLD_ADDRESSES)
    const total = totals.get(reason)
    log.info({ reason, count: news.count, total, addresses: Object.fromEntries(most) }, 'requests refused')
  }

  return {
    note(reason, addressPrefix) {
      totals.set(reason, (totals.get(reason) ?? 0) + 1)
      const news = untold.get(reason) ?? { count: 0, byAddress: new Map<string, number>() }
      untold.set(reason, news)
      news.count++
      const { byAddress } = news
      const name = byAddress.size < MAX_ADDRESSES || byAddress.has(addressPrefix) ? addressPrefix : OTHERS
      byAddress.set(name, (byAddress.get(name) ?? 0) + 1)
      if (!resting.has(reason)) tell(reason)
    },
    totals: () => Object.fromEntries(totals),
  }
}
