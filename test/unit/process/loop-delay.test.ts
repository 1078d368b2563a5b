import { expect, test, vi } from 'vitest'
import { DELAY_BOUNDS_MS, watchLoopDelay } from '../../../src/process/loop-delay.ts'

function block(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

test('what holds the loop up is in the histogram, and in the log once a second at most', async () => {
  const warn = vi.fn()
  const startedAtMs = performance.now()
  const delay = watchLoopDelay({ warn })
  await Bun.sleep(50)
  for (let i = 0; i < 3; i++) {
    block(170)
    await Bun.sleep(30)
  }
  const { counts, maxMs, sumMs } = delay.read()
  delay.stop()
  expect(counts.length).toBe(DELAY_BOUNDS_MS.length + 1)
  expect(counts.slice(DELAY_BOUNDS_MS.indexOf(100) + 1).reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(3)
  expect(maxMs).toBeGreaterThan(100)
  expect(sumMs).toBeGreaterThan(300)
  expect(warn).toHaveBeenCalled()
  expect(warn.mock.calls.length).toBeLessThanOrEqual(1 + Math.floor((performance.now() - startedAtMs) / 1000))
  expect(warn.mock.calls[0]?.[0].delayMs).toBeGreaterThan(100)
})
