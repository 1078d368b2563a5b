import { expect, test } from 'vitest'
import { createConnectionLimiter } from '../../../src/http/ingress.ts'

/** `open` lists the number of open descriptors at each reading. Later readings repeat the last number. */
function ask(open: number[], requests: number): { filling: boolean[]; looks: number } {
  let looks = 0
  const limiter = createConnectionLimiter(1_000, () => open[Math.min(looks++, open.length - 1)] ?? 0)
  return { filling: Array.from({ length: requests }, () => limiter.isNearLimit()), looks }
}

test('requests that cannot use half of the descriptors share one check', () => {
  expect(ask([100], 100).looks).toBe(1)
  expect(ask([480], 100).looks).toBe(12)
})

test('closes connections from the check that finds half in use until one finds less', () => {
  const { filling } = ask([460, 510, 300], 31)
  expect(filling.lastIndexOf(true) - filling.indexOf(true)).toBe(8)
  expect(filling.indexOf(true)).toBe(11)
})

test('each later request may open two descriptors, and as many may open without a request', () => {
  const open = 100
  let looks = 0
  const limiter = createConnectionLimiter(1_000, () => (looks++ === 0 ? open : open + 4 * 100))
  let requests = 0
  while (looks < 2) {
    limiter.isNearLimit()
    requests++
  }
  expect(open + 4 * (requests - 2)).toBeLessThanOrEqual(500)
})
