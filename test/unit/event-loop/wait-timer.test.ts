import { expect, test } from 'vitest'
import { createWaitTimer } from '../../../src/event-loop/timeouts.ts'
import { passMs, useTestClock } from '../../harness/test-clock.ts'

useTestClock()

function open() {
  let calls = 0
  const limit = createWaitTimer(() => {
    calls++
  })
  return { ...limit, calls: () => calls }
}

test('each wait has its whole limit, although the timer was set for an earlier one', async () => {
  const limit = open()
  limit.begin(30)
  await passMs(20)
  limit.end()
  limit.begin(60)
  await passMs(59)
  expect(limit.calls()).toBe(0)
  await passMs(1)
  expect(limit.calls()).toBe(1)
})

test('a wait may have a shorter limit than the one before', async () => {
  const limit = open()
  limit.begin(3_600_000)
  limit.end()
  limit.begin(1)
  await passMs(1)
  expect(limit.calls()).toBe(1)
})

test('nothing fires between waits or after close', async () => {
  const limit = open()
  limit.begin(5)
  limit.end()
  await passMs(20)
  limit.begin(5)
  limit.close()
  await passMs(20)
  expect(limit.calls()).toBe(0)
})
