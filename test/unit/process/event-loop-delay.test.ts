import { expect, test, vi } from 'vitest'
import { monitorEventLoopDelay } from '../../../src/process/event-loop-delay.ts'
import { createMetrics } from '../../../src/telemetry/metrics.ts'
import { blockMs, passMs, useTestClock } from '../../harness/test-clock.ts'

useTestClock()

test('records delays in the histogram, and logs them at most once a second', async () => {
  const warn = vi.fn()
  const metrics = createMetrics()
  const stop = monitorEventLoopDelay(metrics, { warn })
  await passMs(50)
  for (let i = 0; i < 3; i++) {
    blockMs(170)
    await passMs(30)
  }
  stop()
  const [family] = metrics.snapshot()
  const { counts = [], value: sumSeconds = 0 } = family?.series[0] ?? {}
  const above = counts.slice((family?.bounds.indexOf(0.1) ?? 0) + 1)
  expect(above.reduce((sum, count) => sum + count)).toBe(3)
  expect(sumSeconds).toBeCloseTo(0.51)
  // Only the first of three delays within a second is logged.
  expect(warn.mock.calls).toEqual([[{ delayMs: 170 }, 'the event loop was blocked']])
})
