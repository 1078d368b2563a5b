import { expect, test } from 'vitest'
import { createSharedTimeout, TimeoutError } from '../../../src/event-loop/timeouts.ts'
import { passMs, useTestClock } from '../../harness/test-clock.ts'

useTestClock()

const never = () => new Promise<never>(() => {})
const outcomeOf = (call: Promise<unknown>) => call.then(String, error => error)

test('calls that share a limit each have all of it', async () => {
  const within = createSharedTimeout(200)
  const startedAtMs = performance.now()
  const endedAfterMs = (call: Promise<unknown>) => outcomeOf(within(call)).then(() => performance.now() - startedAtMs)
  const first = endedAfterMs(never())
  await passMs(120)
  const second = endedAfterMs(never())
  await passMs(200)
  expect(await Promise.all([first, second])).toEqual([200, 320])
})

test('a call that ends in time is unaffected, and later calls are limited all the same', async () => {
  const within = createSharedTimeout(50)
  expect(await outcomeOf(within(Promise.resolve('in time')))).toBe('in time')
  const failure = new Error('its own')
  expect(await outcomeOf(within(Promise.reject(failure)))).toBe(failure)
  for (let n = 0; n < 2; n++) {
    const [outcome] = await Promise.all([outcomeOf(within(never())), passMs(50)])
    expect(outcome).toBeInstanceOf(TimeoutError)
    await passMs(120)
  }
})
