/** The soak test decides from this trend if memory use is level. */
import { expect, test } from 'vitest'
import { trendOf } from '../../scripts/soak/watch.ts'
import { createRandom } from '../harness/random.ts'

const minutes = Array.from({ length: 30 }, (_, minute) => minute)
const noise = createRandom(24)
const noisy = (perMinute: number) => minutes.map(minute => 200 + perMinute * minute + 30 * (noise() - 0.5))

test('a steady rise is certain, despite noise and a peak', () => {
  expect(trendOf(minutes.map(minute => 100 + 2 * minute))).toEqual({ last: 158, rise: 58, leastRise: 58 })
  const rising = noisy(2)
  rising[3] = 900
  expect(trendOf(rising).rise).toBeGreaterThan(40)
  expect(trendOf(rising).leastRise).toBeGreaterThan(16)
})

test('a value that only fluctuates does not rise', () => {
  expect(trendOf(noisy(0)).leastRise).toBeLessThan(4)
})
