/** Keeps count of entries with a wrong integrity tag, and tells the log of them once a second at most. */
import type { Log } from './log.ts'

const TELL_EVERY_MS = 1_000

export interface WrongTags {
  /** `name`: of the entry, which says whose it is and nothing of what was asked. */
  note(name: string): void
  /** How many since the start. */
  total(): number
}

export function createWrongTags(log: Pick<Log, 'error'>): WrongTags {
  let total = 0
  let untold = 0
  let toldAtMs = Number.NEGATIVE_INFINITY
  return {
    note(name) {
      total++
      untold++
      const nowMs = performance.now()
      if (nowMs - toldAtMs < TELL_EVERY_MS) return
      toldAtMs = nowMs
      log.error(
        { count: untold, total, name },
        'an entry in Redis had a wrong integrity tag; it was not served, and is gone',
      )
      untold = 0
    },
    total: () => total,
  }
}
