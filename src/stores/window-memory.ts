/** What a process remembers of rate windows: so that Redis gets back what it lost, and limits hold while it is away. */
import { type PassBatch, type PassVerdict, WINDOW_SECONDS, type Window } from './fast-store.ts'
import {
  addToWindow,
  createWindow,
  decodeWindow,
  moveWindow,
  type SlidingWindow,
  takeFromWindow,
  waitForRoomMs,
} from './sliding-window.ts'

export interface WindowMemory {
  /** The batch with all that Redis may not know. Each must end in `noteCounted` or `noteFailed`. */
  recall(batch: PassBatch): PassBatch
  /** Redis has counted a batch that `recall` made. */
  noteCounted(recalled: PassBatch, verdict: PassVerdict): void
  noteFailed(recalled: PassBatch): void
  /**
   * Passes a batch without Redis. What was left of a limit when this process last saw the window is shared out among all processes
   * equally; of a window that it has not seen, the whole limit is.
   */
  passAlone(batch: PassBatch): PassVerdict
  /** Takes back what `passAlone` counted. */
  uncountAlone(windowNames: readonly string[], requests: number, countedAtSecond: number): void
  close(): void
}

interface Remembered {
  /** As Redis last had it. */
  seen: Uint8Array | null
  /** What passed without it since; what it has not been told of. */
  alone: SlidingWindow | null
  /** How much of that it is being told of. */
  telling: number
  usedAtSecond: number
}

const SWEEP_EVERY_MS = 10_000

/** `processes`: how many share the limits. */
export function createWindowMemory(processes: number, now: () => number = Date.now): WindowMemory {
  const windows = new Map<string, Remembered>()
  /** Redis' clock is the one that windows are counted by. */
  let aheadSeconds = 0

  const nowSecond = () => Math.floor(now() / 1000) + aheadSeconds

  function find(name: string): Remembered {
    let found = windows.get(name)
    if (!found) {
      found = { seen: null, alone: null, telling: 0, usedAtSecond: 0 }
      windows.set(name, found)
    }
    found.usedAtSecond = nowSecond()
    return found
  }

  function recallWindow(window: Window): Window {
    const found = windows.get(window.name)
    if (!found) return window
    const isStale = nowSecond() - found.usedAtSecond >= WINDOW_SECONDS
    if (found.alone) moveWindow(found.alone, nowSecond())
    // One call at a time tells of what passed: two would have it counted twice.
    const missed = found.telling === 0 ? (found.alone?.total ?? 0) : 0
    found.telling += missed
    return { ...window, remembered: isStale ? null : found.seen, missed }
  }

  /** What is left to be told after `missed` of it was. */
  function noteTold(found: Remembered, missed: number): void {
    found.telling -= missed
    if (missed === 0 || !found.alone) return
    const left = found.alone.total - missed
    found.alone = left > 0 ? createWindow(nowSecond()) : null
    if (found.alone) addToWindow(found.alone, nowSecond(), left)
  }

  const sweep = setInterval(() => {
    const oldest = nowSecond() - WINDOW_SECONDS
    for (const [name, { usedAtSecond, telling }] of windows) {
      if (usedAtSecond < oldest && telling === 0) windows.delete(name)
    }
  }, SWEEP_EVERY_MS)
  sweep.unref()

  return {
    recall: batch => ({ ...batch, windows: batch.windows.map(recallWindow) }),

    noteCounted(recalled, verdict) {
      aheadSeconds = verdict.countedAtSecond - Math.floor(now() / 1000)
      for (const [i, { name, missed = 0 }] of recalled.windows.entries()) {
        const found = find(name)
        noteTold(found, missed)
        const seen = verdict.windows?.[i]
        // A copy: the bytes lie in a buffer that holds much else.
        if (seen) found.seen = new Uint8Array(seen)
      }
    },

    noteFailed(recalled) {
      for (const { name, missed = 0 } of recalled.windows) find(name).telling -= missed
    },

    passAlone({ requests, windows: asked, entries }) {
      const second = nowSecond()
      const nowMs = now() + aheadSeconds * 1000
      const opened = asked.map(({ name, limit }) => openAlone(find(name), limit, processes, second))
      const granted = Math.max(0, Math.min(requests, ...opened.map(({ room }) => room)))
      for (const { all, alone } of opened) {
        addToWindow(all, second, granted)
        addToWindow(alone, second, granted)
      }
      const waits = opened.map(({ all, alone, limit, share }) =>
        Math.max(waitForRoomMs(all, limit, nowMs), waitForRoomMs(alone, share, nowMs)),
      )
      return {
        granted,
        countedAtSecond: second,
        waitMs: granted < requests ? Math.max(0, ...waits) : 0,
        // A full share is a full window.
        totals: opened.map(({ all, alone, limit, share }) =>
          alone.total >= share ? Math.max(all.total, limit) : all.total,
        ),
        entries: entries.map(() => null),
      }
    },

    uncountAlone(names, requests, second) {
      for (const name of names) takeFromWindow(windows.get(name)?.alone ?? undefined, requests, second)
    },

    close: () => clearInterval(sweep),
  }
}

/** `all`: what was seen and what passed without Redis since. `share`: most that may pass without Redis now. */
function openAlone(found: Remembered, limit: number, processes: number, second: number) {
  found.alone ??= createWindow(second)
  const { alone } = found
  moveWindow(alone, second)
  const all = found.seen ? decodeWindow(found.seen) : createWindow(second)
  moveWindow(all, second)
  // Of the smallest limits each process may still use one where nobody is known to have used any.
  const share = Math.max(all.total === 0 ? 1 : 0, Math.floor((limit - all.total) / processes))
  for (let back = 0; back < WINDOW_SECONDS; back++) {
    addToWindow(all, second - back, alone.counts[(second - back) % WINDOW_SECONDS] ?? 0)
  }
  return { all, alone, limit, share, room: Math.min(limit - all.total, share - alone.total) }
}
