import { expect, test, vi } from 'vitest'
import { monitorEventLoopDelay } from '../../../src/process/event-loop-delay.ts'
import { createMetrics } from '../../../src/telemetry/metrics.ts'

function block(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

test('what holds the loop up is in the histogram, and in the log once a second at most', async () => {
  const warn = vi.fn()
  const startedAtMs = performance.now()
  const metrics = createMetrics()
  const stop = monitorEventLoopDelay(metrics, { warn })
  await Bun.sleep(50)
  for (let i = 0; i < 3; i++) {
    block(170)
    await Bun.sleep(30)
  }
  stop()
  const [family] = metrics.snapshot()
  const { counts = [], value: sumSeconds = 0 } = family?.series[0] ?? {}
  const above = counts.slice((family?.bounds.indexOf(0.1) ?? 0) + 1)
  expect(above.reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(3)
  expect(sumSeconds).toBeGreaterThan(0.3)
  expect(warn).toHaveBeenCalled()
  expect(warn.mock.calls.length).toBeLessThanOrEqual(1 + Math.floor((performance.now() - startedAtMs) / 1000))
  expect(warn.mock.calls[0]?.[0].delayMs).toBeGreaterThan(100)
})
