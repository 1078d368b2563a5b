import { readdirSync, readFileSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { clockSkewSeconds, learnTime, nowIso, nowMs } from '../../../src/event-loop/clock.ts'

afterEach(() => learnTime(new Date()))

const DAY_MS = 86_400_000

test('the time is the database’s as soon as it has told it, and what the way takes is left alone', () => {
  learnTime(new Date(Date.now() + 1_500))
  expect(Math.abs(nowMs() - Date.now())).toBeLessThan(500)
  learnTime(new Date(Date.now() + 70 * DAY_MS))
  expect(Math.abs(nowMs() - Date.now() - 70 * DAY_MS)).toBeLessThan(500)
  expect(clockSkewSeconds()).toBe((70 * DAY_MS) / 1000)
  learnTime(new Date(Date.now() + 70 * DAY_MS + 1_500))
  expect(clockSkewSeconds()).toBe((70 * DAY_MS) / 1000)
  expect(nowIso().slice(0, 10)).toBe(new Date(Date.now() + 70 * DAY_MS).toISOString().slice(0, 10))
  learnTime(new Date())
  expect(clockSkewSeconds()).toBe(0)
})

/** The clock itself, what compares two readings of it, and what runs in a browser. */
const MAY_READ = /event-loop\/clock\.ts$|providers\/circuits\.ts$|dashboard\/pages\//

test('nothing else reads this machine’s clock', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(file => /\.tsx?$/.test(file))
  const found = files.filter(file => /Date\.now\(|new Date\(\)/.test(readFileSync(`src/${file}`, 'utf8')))
  expect(found.filter(file => !MAY_READ.test(file))).toEqual([])
  expect(found.length).toBeGreaterThan(1)
})
