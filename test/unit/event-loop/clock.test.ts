import { readdirSync, readFileSync } from 'node:fs'
import { afterEach, expect, test, vi } from 'vitest'
import { clockSkewSeconds, monotonicMs, nowIso, nowMs, setDatabaseTime } from '../../../src/event-loop/clock.ts'

afterEach(() => setDatabaseTime(new Date()))

const DAY_MS = 86_400_000

/** Lower and upper bound of the difference to this machine's clock, in milliseconds. The thread may pause between the readings. */
function aheadMs(): [number, number] {
  const [before, now, after] = [Date.now(), nowMs(), Date.now()]
  return [now - after, now - before]
}

test('adopts the database’s time as soon as it is known, without the transit time', () => {
  const [least, most] = aheadMs()
  setDatabaseTime(new Date(Date.now() + 1_500))
  // The two clocks differ by milliseconds at most.
  const [atLeast, atMost] = aheadMs()
  expect([atLeast - most < 500, least - atMost < 500]).toEqual([true, true])
  const toldAtMs = Date.now()
  setDatabaseTime(new Date(toldAtMs + 70 * DAY_MS))
  const waitedMs = Date.now() - toldAtMs
  const [leastAhead, mostAhead] = aheadMs()
  expect(leastAhead).toBeLessThan(70 * DAY_MS + 500)
  expect(mostAhead).toBeGreaterThan(70 * DAY_MS - waitedMs - 500)
  expect(clockSkewSeconds()).toBe((70 * DAY_MS) / 1000)
  setDatabaseTime(new Date(Date.now() + 70 * DAY_MS + 1_500))
  expect(clockSkewSeconds()).toBe((70 * DAY_MS) / 1000)
  expect(nowIso().slice(0, 10)).toBe(new Date(Date.now() + 70 * DAY_MS).toISOString().slice(0, 10))
  setDatabaseTime(new Date())
  expect(clockSkewSeconds()).toBe(0)
})

test.each([-3_600_000, 3_600_000])('a step of %i ms of the machine’s clock does not change the time', stepMs => {
  setDatabaseTime(new Date())
  const before = [monotonicMs(), nowMs()]
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + stepMs })
  try {
    for (const [i, now] of [monotonicMs(), nowMs()].entries()) expect(now - (before[i] ?? 0)).toBeLessThan(60_000)
    expect(Math.min(monotonicMs(), nowMs())).toBeGreaterThanOrEqual(Math.min(...before))
    expect(clockSkewSeconds()).toBeCloseTo(-stepMs / 1000, -2)
  } finally {
    vi.useRealTimers()
  }
})

/** The clock itself, and code that runs in a browser. */
const MAY_READ = /event-loop\/clock\.ts$|dashboard\/pages\//

test('nothing else reads the machine’s clock', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(file => /\.tsx?$/.test(file))
  const found = files.filter(file => /Date\.now\(|new Date\(\)/.test(readFileSync(`src/${file}`, 'utf8')))
  expect(found.filter(file => !MAY_READ.test(file))).toEqual([])
  expect(found.length).toBeGreaterThan(1)
})
