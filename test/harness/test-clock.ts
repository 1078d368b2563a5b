/** A clock that tests move. It replaces timers and `performance.now()`, but not the date. */
import { afterEach, beforeEach, vi } from 'vitest'
import { eventLoopTick } from './event-loop.ts'

let blockedMs = 0

/** Applies to each test of the file or the `describe` block. */
export function useTestClock(): void {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] })
    const now = performance.now.bind(performance)
    blockedMs = 0
    performance.now = () => now() + blockedMs
  })
  afterEach(() => void vi.useRealTimers())
}

/** Moves the clock. Runs each due timer, and all code that was ready before and after it. */
export async function passMs(ms: number): Promise<void> {
  await eventLoopTick()
  await vi.advanceTimersByTimeAsync(ms)
  await eventLoopTick()
}

/** Moves the clock as if the event loop was blocked: timers fire this much later. */
export function blockMs(ms: number): void {
  blockedMs += ms
}
