import { expect, test } from 'vitest'
import { limitConcurrency } from '../../../src/event-loop/limit-concurrency.ts'
import { eventLoopTick } from '../../harness/event-loop.ts'

test('runs at most the given number at once, and all in order', async () => {
  const inTurn = limitConcurrency(2, 10)
  let running = 0
  let most = 0
  const done: number[] = []
  await Promise.all(
    Array.from({ length: 7 }, (_, at) =>
      inTurn(async () => {
        most = Math.max(most, ++running)
        await eventLoopTick()
        running--
        done.push(at)
      }),
    ),
  )
  expect([most, done]).toEqual([2, [0, 1, 2, 3, 4, 5, 6]])
})

test('a failure frees its slot', async () => {
  const inTurn = limitConcurrency(1, 10)
  const failing = inTurn(() => Promise.reject(new Error('broken')))
  const next = inTurn(() => Promise.resolve('next'))
  await expect(failing).rejects.toThrow('broken')
  expect(await next).toBe('next')
})

test('rejects calls beyond the limit of the queue', async () => {
  const inTurn = limitConcurrency(1, 2)
  const held = Promise.withResolvers<void>()
  const three = Array.from({ length: 3 }, () => inTurn(() => held.promise))
  await expect(inTurn(() => Promise.resolve())).rejects.toMatchObject({ status: 503 })
  held.resolve()
  await Promise.all(three)
})
