import { expect, test } from 'vitest'
import { createWorkScheduler } from '../../../src/event-loop/work-scheduler.ts'

test('does no more than fits in one tick of the event loop, whoever calls', async () => {
  const turns = createWorkScheduler(() => 3)
  const done: number[] = []
  const all = Array.from({ length: 8 }, async (_, at) => {
    await turns.wait(1)
    done.push(at)
  })
  const perTurn: number[] = []
  while (done.length < 8) {
    await new Promise(setImmediate)
    perTurn.push(done.length)
  }
  await Promise.all(all)
  expect(perTurn).toEqual([6, 8])
  expect(done).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
})

test('work that alone exceeds a tick has its own tick', async () => {
  const turns = createWorkScheduler(() => 3)
  expect(turns.wait(10)).toBeUndefined()
  const next = turns.wait(1)
  expect(next).toBeInstanceOf(Promise)
  await next
})
