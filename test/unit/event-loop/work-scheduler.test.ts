import { expect, test } from 'vitest'
import { createWorkScheduler } from '../../../src/event-loop/work-scheduler.ts'

test('in one turn of the event loop no more is done than fits, whoever asks', async () => {
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

test('what alone is more than fits has a turn of its own', async () => {
  const turns = createWorkScheduler(() => 3)
  expect(turns.wait(10)).toBeUndefined()
  const next = turns.wait(1)
  expect(next).toBeInstanceOf(Promise)
  await next
})
