import { expect, test } from 'vitest'
import { createSharedTimeout, TimeoutError } from '../../../src/event-loop/timeouts.ts'

const never = () => new Promise<never>(() => {})
const outcomeOf = (call: Promise<unknown>) => call.then(String, error => error)

test('calls that share a limit each have all of it', async () => {
  const within = createSharedTimeout(200)
  const startedAtMs = performance.now()
  const endedAfterMs = (call: Promise<unknown>) => outcomeOf(within(call)).then(() => performance.now() - startedAtMs)
  const first = endedAfterMs(never())
  await Bun.sleep(120)
  const second = endedAfterMs(never())
  expect(await first).toBeGreaterThanOrEqual(199)
  expect(await second).toBeGreaterThanOrEqual(315)
})

test('a call that ends in time is left alone, and those after it are limited all the same', async () => {
  const within = createSharedTimeout(50)
  expect(await outcomeOf(within(Promise.resolve('in time')))).toBe('in time')
  const failure = new Error('its own')
  expect(await outcomeOf(within(Promise.reject(failure)))).toBe(failure)
  expect(await outcomeOf(within(never()))).toBeInstanceOf(TimeoutError)
  await Bun.sleep(120)
  expect(await outcomeOf(within(never()))).toBeInstanceOf(TimeoutError)
})
