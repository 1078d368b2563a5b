/** Logs entries and messages with a wrong integrity tag, at most once a second. */
import type { Log } from './log.ts'

const TELL_EVERY_MS = 1_000

export interface WrongTags {
  /** `name` is the entry's or the recipient's: it identifies the project, and says nothing about the request. */
  note(name: string): void
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
        'an entry or a message in Redis had a wrong integrity tag; it was not used',
      )
      untold = 0
    },
  }
}
