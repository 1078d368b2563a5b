/** Deduplicates log lines: the first line of a kind is written at once. Repeats are counted, and the last one is written with their number. */

interface Kind {
  repeats: number
  /** Writes the last repeated line with the number of repeats. */
  writeLine(repeats: number): void
  waitMs: number
  timer: ReturnType<typeof setTimeout>
}

/** Repeats are written after a minute, and then after twice the last wait. */
const FIRST_WAIT_MS = 60_000
const MAX_WAIT_MS = 3_600_000
/** When there are more kinds, all lines with the same message count as one kind. */
const MAX_KINDS = 1_000

export interface LogDeduplicator {
  /** Calls `writeLine` now with 0, or later with the number of repeats since the last written line, including this one. */
  write(kind: string, message: string, writeLine: (repeats: number) => void): void
  /** Writes all counted repeats now. */
  flush(): void
}

export function createLogDeduplicator(): LogDeduplicator {
  const kinds = new Map<string, Kind>()

  /** Writes the repeats of a kind. A kind without repeats is forgotten, so that its next line is written at once. */
  function writeRepeats(name: string, kind: Kind): void {
    const { repeats } = kind
    if (repeats === 0) return void kinds.delete(name)
    kind.repeats = 0
    kind.waitMs = Math.min(MAX_WAIT_MS, kind.waitMs * 2)
    kind.timer = startTimer(name, kind)
    kind.writeLine(repeats)
  }

  function startTimer(name: string, kind: Pick<Kind, 'waitMs'>) {
    const timer = setTimeout(() => writeRepeats(name, kind as Kind), kind.waitMs)
    timer.unref()
    return timer
  }

  return {
    write(kind, message, writeLine) {
      const name = kinds.has(kind) || kinds.size < MAX_KINDS ? kind : message
      const known = kinds.get(name)
      if (known) {
        known.repeats++
        known.writeLine = writeLine
        return
      }
      const created = { repeats: 0, writeLine, waitMs: FIRST_WAIT_MS }
      kinds.set(name, Object.assign(created, { timer: startTimer(name, created) }))
      writeLine(0)
    },
    flush() {
      for (const [name, kind] of kinds) {
        clearTimeout(kind.timer)
        kinds.delete(name)
        if (kind.repeats > 0) kind.writeLine(kind.repeats)
      }
    },
  }
}
