import { expect, test } from 'vitest'
import { createWaitTimer } from '../../../src/event-loop/timeouts.ts'

function open() {
  const passed = Promise.withResolvers<number>()
  let calls = 0
  const limit = createWaitTimer(() => {
    calls++
    passed.resolve(performance.now())
  })
  return { ...limit, passed: passed.promise, calls: () => calls }
}

test('each wait has all of its limit, though the timer was set for an earlier one', async () => {
  const limit = open()
  limit.begin(30)
  await Bun.sleep(20)
  limit.end()
  const begunMs = performance.now()
  limit.begin(60)
  expect(await limit.passed).toBeGreaterThanOrEqual(begunMs + 60)
  expect(limit.calls()).toBe(1)
})

test('a wait may have a shorter limit than the one before', async () => {
  const limit = open()
  limit.begin(3_600_000)
  limit.end()
  limit.begin(1)
  await limit.passed
  expect(limit.calls()).toBe(1)
})

test('between waits, and once it is closed, nothing passes', async () => {
  const limit = open()
  limit.begin(5)
  limit.end()
  await Bun.sleep(20)
  limit.begin(5)
  limit.close()
  await Bun.sleep(20)
  expect(limit.calls()).toBe(0)
})
