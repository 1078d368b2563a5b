import { afterEach, expect, test } from 'vitest'
import { createFallbackStore, type FallbackStore } from '../../../src/stores/fallback-store.ts'
import type { CountResult, FastStore } from '../../../src/stores/fast-store.ts'
import { createInProcessStore } from '../../../src/stores/in-process-store.ts'
import { eventLoopTick } from '../../harness/event-loop.ts'
import { passMs, useTestClock } from '../../harness/test-clock.ts'

type Mood = 'well' | 'failing' | 'hanging' | 'late'

let guarded: FallbackStore | null = null
afterEach(() => guarded?.close())
useTestClock()

/** Milliseconds. Longer than the guard waits for a reply, and longer than it pauses calls to a failed store. */
const LIMIT_MS = 550

/** A guarded store that can be set to fail, hang or reply late. */
function openGuarded() {
  const inner = createInProcessStore()
  let mood: Mood = 'well'
  let calls = 0
  const changes: boolean[] = []
  /** The `unreported` count of each batch that the store received. */
  const told: (number | undefined)[] = []
  /** Calls to a late store wait for this promise. */
  const thaw = Promise.withResolvers<void>()
  const behave = <T>(work: () => Promise<T>): Promise<T> => {
    calls++
    if (mood === 'well') return work()
    if (mood === 'late') return thaw.promise.then(work)
    return mood === 'failing' ? Promise.reject(new Error('gone')) : new Promise(() => {})
  }
  const moody: FastStore = {
    ...inner,
    count(batch) {
      told.push(batch.windows[0]?.unreported)
      return behave(() => inner.count(batch))
    },
    uncount: (...asked) => behave(() => inner.uncount(...asked)),
    writeEntry: (...asked) => behave(() => inner.writeEntry(...asked)),
  }
  guarded = createFallbackStore(moody, { onAvailabilityChange: up => changes.push(up) })
  const store = guarded
  return {
    store,
    inner,
    changes,
    told,
    calls: () => calls,
    become: (next: Mood) => {
      mood = next
    },
    thaw: () => thaw.resolve(),
    pass: (limit: number): Promise<CountResult> =>
      store.count({ requests: 1, windows: [{ name: 'w', limit }], entries: ['e'] }),
    /** Counts in the store itself, without the guard. */
    countInside: async () =>
      (await inner.count({ requests: 0, windows: [{ name: 'w', limit: 100 }], entries: [] })).totals[0],
  }
}

test('replaces a failing store at once, and tries it again half a second later', async () => {
  const { store, changes, calls, become, pass } = openGuarded()
  expect((await pass(2)).granted).toBe(1)
  become('failing')
  // The process now counts on its own, and its window is empty.
  expect((await pass(2)).granted).toBe(1)
  expect((await pass(2)).granted).toBe(1)
  expect((await pass(2)).granted).toBe(0)
  expect([calls(), store.isUp()]).toEqual([2, false])
  become('well')
  expect((await pass(2)).granted).toBe(0)
  await passMs(LIMIT_MS)
  expect((await pass(2)).granted).toBe(1)
  expect((await pass(2)).granted).toBe(0)
  expect(store.isUp()).toBe(true)
  expect(changes).toEqual([false, true])
})

test('reports what was admitted without the store when it is back, despite another failure meanwhile', async () => {
  const { told, become, pass } = openGuarded()
  become('failing')
  await pass(10)
  await passMs(LIMIT_MS)
  await pass(10)
  become('well')
  await passMs(LIMIT_MS)
  await pass(10)
  expect(told).toEqual([undefined, 1, 2])
})

test('a store that hangs delays one caller at a time, and none for long', async () => {
  const { calls, become, pass } = openGuarded()
  become('hanging')
  // The store never replies. The guard's time limit ends this call.
  const [held] = await Promise.all([pass(100), passMs(LIMIT_MS)])
  expect(held.granted).toBe(1)
  await passMs(LIMIT_MS)
  const before = calls()
  await Promise.all([...Array.from({ length: 20 }, () => pass(100)), passMs(LIMIT_MS)])
  expect(calls() - before).toBe(1)
})

test('refunds a count in the store that counted it', async () => {
  const { store, inner, become, pass } = openGuarded()
  const counted = await pass(10)
  become('failing')
  const countedHere = await pass(10)
  expect(countedHere.totals).toEqual([1])
  // The store that counted the first request is unavailable. This process's own count stays the same.
  await store.uncount(['w'], 1, counted.receipt)
  expect((await pass(10)).totals).toEqual([2])
  become('well')
  await passMs(LIMIT_MS)
  expect((await pass(10)).totals).toEqual([2])
  await store.uncount(['w'], 1, countedHere.receipt)
  expect((await inner.count({ requests: 1, windows: [{ name: 'w', limit: 10 }], entries: [] })).totals).toEqual([3])
})

test('refunds a count that the store makes too late, because the request was counted here meanwhile', async () => {
  const { calls, become, thaw, pass, countInside } = openGuarded()
  await pass(10)
  expect(await countInside()).toBe(1)
  become('late')
  // The store does not reply in time, so this process counts the request.
  const [late] = await Promise.all([pass(10), passMs(LIMIT_MS)])
  expect(late).toMatchObject({ granted: 1, totals: [1] })
  become('well')
  thaw()
  // The late call counts one, and the guard uncounts it before the store is read again.
  await eventLoopTick()
  expect(calls()).toBe(3)
  expect(await countInside()).toBe(1)
})

test('each shard has its own guard: names of another are served meanwhile', async () => {
  const inner = createInProcessStore()
  const changes: [boolean, string][] = []
  const shards = new Map([
    ['a', 'first'],
    ['b', 'second'],
  ])
  guarded = createFallbackStore(
    {
      ...inner,
      shardOf: name => shards.get(name) ?? '',
      writeEntry: (name, ...rest) =>
        shards.get(name) === 'first' ? Promise.reject(new Error('gone')) : inner.writeEntry(name, ...rest),
    },
    { onAvailabilityChange: (up, shard) => changes.push([up, shard]) },
  )
  const store = guarded
  const write = (name: string) => store.writeEntry(name, new Uint8Array(1), 60_000)
  expect([await write('b'), await write('a'), await write('b')]).toEqual([true, false, true])
  expect(changes).toEqual([[false, 'first']])
  await expect(store.runGuarded('a', async () => 'asked')).rejects.toThrow('did not reply')
  expect(await store.runGuarded('b', async () => 'asked')).toBe('asked')
  // A replica with another address replaces the failed server.
  shards.set('a', 'third')
  expect(await write('a')).toBe(true)
  expect(store.isUp()).toBe(true)
  expect(changes).toEqual([
    [false, 'first'],
    [true, 'first'],
  ])
})
