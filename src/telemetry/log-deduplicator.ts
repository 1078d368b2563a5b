/** Lines of one kind that repeat: the first is written at once; those that follow are counted, and told with the last of them. */

interface Kind {
  repeats: number
  /** Writes the last of them. */
  tell(repeats: number): void
  waitMs: number
  timer: ReturnType<typeof setTimeout>
}

/** The count is told after a minute, then after twice as long each time. */
const FIRST_WAIT_MS = 60_000
const LONGEST_WAIT_MS = 3_600_000
/** Beyond, lines with one message are of one kind. */
const MAX_KINDS = 1_000

export interface LogDeduplicator {
  /** Calls `tell` now with 0, or later with how many followed the line that was written last, this one included. */
  write(kind: string, message: string, tell: (repeats: number) => void): void
  /** Tells now what was only counted. */
  flush(): void
}

export function createLogDeduplicator(): LogDeduplicator {
  const kinds = new Map<string, Kind>()

  /** One that did not repeat meanwhile is told at once the next time. */
  function end(name: string, kind: Kind): void {
    const { repeats } = kind
    if (repeats === 0) return void kinds.delete(name)
    kind.repeats = 0
    kind.waitMs = Math.min(LONGEST_WAIT_MS, kind.waitMs * 2)
    kind.timer = wait(name, kind)
    kind.tell(repeats)
  }
  function wait(name: string, kind: Pick<Kind, 'waitMs'>) {
    const timer = setTimeout(() => end(name, kind as Kind), kind.waitMs)
    timer.unref()
    return timer
  }

  return {
    write(kind, message, tell) {
      const name = kinds.has(kind) || kinds.size < MAX_KINDS ? kind : message
      const found = kinds.get(name)
      if (found) {
        found.repeats++
        found.tell = tell
        return
      }
      const begun = { repeats: 0, tell, waitMs: FIRST_WAIT_MS }
      kinds.set(name, Object.assign(begun, { timer: wait(name, begun) }))
      tell(0)
    },
    flush() {
      for (const [name, kind] of kinds) {
        clearTimeout(kind.timer)
        kinds.delete(name)
        if (kind.repeats > 0) kind.tell(kind.repeats)
      }
    },
  }
}
