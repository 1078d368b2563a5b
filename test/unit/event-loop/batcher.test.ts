import { expect, test } from 'vitest'
import { createBatcher } from '../../../src/event-loop/batcher.ts'
import { eventLoopTick } from '../../harness/event-loop.ts'
import { blockMs, passMs, useTestClock } from '../../harness/test-clock.ts'

/** A batcher whose batches complete when the test ends them. */
function open(maxBatches: number | undefined, comesNext?: () => Promise<unknown> | null) {
  const batches: { items: readonly number[]; end(): void }[] = []
  const add = createBatcher<number, number>({
    run: items => new Promise(resolve => batches.push({ items, end: () => resolve(items.map(item => item * 2)) })),
    maxItems: 3,
    ...(maxBatches === undefined ? {} : { maxBatches }),
    ...(comesNext && { upcomingItems: comesNext }),
    timeoutMs: 60_000,
    createTimeoutError: () => new Error('too late'),
  })
  return { add, batches, items: () => batches.map(batch => batch.items) }
}

useTestClock()

test('items that arrive while a batch is in flight go into the next', async () => {
  const { add, batches, items } = open(undefined)
  const results = [1, 2, 3, 4].map(add)
  await eventLoopTick()
  expect(items()).toEqual([[1, 2, 3]])
  results.push(add(5))
  await eventLoopTick()
  expect(items()).toHaveLength(1)
  batches[0]?.end()
  await eventLoopTick()
  expect(items()).toEqual([
    [1, 2, 3],
    [4, 5],
  ])
  batches[1]?.end()
  expect(await Promise.all(results)).toEqual([2, 4, 6, 8, 10])
})

test('runs at most the given number of batches at once', async () => {
  const { add, batches, items } = open(2)
  const results = [1, 2, 3, 4, 5, 6, 7].map(add)
  await eventLoopTick()
  expect(items()).toEqual([
    [1, 2, 3],
    [4, 5, 6],
  ])
  batches[1]?.end()
  await eventLoopTick()
  expect(items()[2]).toEqual([7])
  batches[0]?.end()
  batches[2]?.end()
  expect(await Promise.all(results)).toEqual([2, 4, 6, 8, 10, 12, 14])
})

test('a batch includes items that arrive within a moment', async () => {
  const coming: (() => void)[] = []
  const { add, batches, items } = open(undefined, () => new Promise<void>(resolve => coming.push(resolve)))
  const results = [add(1)]
  await eventLoopTick()
  expect(items()).toEqual([])
  coming[0]?.()
  results.push(add(2))
  await eventLoopTick()
  await eventLoopTick()
  expect(items()).toEqual([[1, 2]])
  results.push(add(3))
  batches[0]?.end()
  await eventLoopTick()
  coming[1]?.()
  await eventLoopTick()
  await eventLoopTick()
  expect(items()).toEqual([[1, 2], [3]])
  batches[1]?.end()
  expect(await Promise.all(results)).toEqual([2, 4, 6])
})

test('does not wait for items that do not arrive', async () => {
  const { add, batches, items } = open(undefined, () => new Promise(() => {}))
  const result = add(1)
  await passMs(5)
  expect(items()).toEqual([[1]])
  batches[0]?.end()
  expect(await result).toBe(2)
})

test('items that waited for a busy event loop are sent all the same', async () => {
  const asked: number[] = []
  const add = createBatcher<number, number>({
    run: async items => {
      asked.push(...items)
      return items
    },
    maxItems: 10,
    timeoutMs: 40,
    createTimeoutError: () => new Error('too late'),
  })
  const results = [add(1)]
  blockMs(60)
  results.push(add(2))
  expect(await Promise.all(results)).toEqual([1, 2])
  expect(asked).toEqual([1, 2])
})

test('an expired limit distinguishes a moving queue from a blocked one', async () => {
  const replies: (() => void)[] = []
  const add = createBatcher<number, number>({
    run: items => new Promise(resolve => void replies.push(() => resolve(items))),
    maxItems: 1,
    timeoutMs: 100,
    createTimeoutError: isBusy => new Error(isBusy ? 'busy' : 'gone'),
  })
  const fakeg = add(1).catch(String)
  await passMs(100)
  expect(await fakeg).toBe('Error: gone')
  const moving = [add(2), add(3)].map(each => each.catch(String))
  await passMs(1)
  expect(replies).toHaveLength(2)
  replies[1]?.()
  await passMs(100)
  expect(await Promise.all(moving)).toEqual([2, 'Error: busy'])
})

test('an expired limit reports busy if other items were processed meanwhile', async () => {
  let answeredAtMs = performance.now()
  const add = createBatcher<number, number>({
    run: () => new Promise(() => {}),
    maxItems: 1,
    timeoutMs: 50,
    createTimeoutError: isBusy => new Error(isBusy ? 'busy' : 'gone'),
    lastReplyAtMs: () => answeredAtMs,
  })
  const first = add(1).catch(String)
  await passMs(50)
  expect(await first).toBe('Error: gone')
  const waiting = add(2).catch(String)
  await passMs(10)
  answeredAtMs = performance.now()
  await passMs(40)
  expect(await waiting).toBe('Error: busy')
})

test('waits for a late result: the limit counts from the last result and from when the event loop could act', async () => {
  const replies: (() => void)[] = []
  const add = createBatcher<number, number>({
    run: items => new Promise(resolve => void replies.push(() => resolve(items))),
    maxItems: 1,
    timeoutMs: 1_000,
    createTimeoutError: () => new Error('too late'),
  })
  const inTurn = [add(1), add(2)]
  await passMs(600)
  replies[0]?.()
  await passMs(600)
  replies[1]?.()
  expect(await Promise.all(inTurn)).toEqual([1, 2])

  const starved = add(3)
  await eventLoopTick()
  blockMs(300)
  await passMs(1_000)
  await passMs(200)
  replies[2]?.()
  expect(await starved).toBe(3)
})

test('background items wait for more items unless a batch is full', async () => {
  let lingering = Promise.withResolvers<void>()
  const batches: (readonly number[])[] = []
  const add = createBatcher<number, number>({
    run: async items => {
      batches.push(items)
      return items
    },
    maxItems: 3,
    linger: () => lingering.promise,
    timeoutMs: 60_000,
    createTimeoutError: () => new Error('too late'),
  })
  const first = add(1)
  await eventLoopTick()
  const second = add(2)
  await eventLoopTick()
  expect(batches).toEqual([])
  lingering.resolve()
  expect(await Promise.all([first, second])).toEqual([1, 2])
  expect(batches).toEqual([[1, 2]])
  lingering = Promise.withResolvers()
  expect(await Promise.all([3, 4, 5].map(add))).toEqual([3, 4, 5])
})
