import { Redis } from 'ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { addressWindowName, type CountResult, entryName, keyWindowName } from '../../src/stores/fast-store.ts'
import { createInProcessStore } from '../../src/stores/in-process-store.ts'
import { connectRedis } from '../../src/stores/redis/connect-redis.ts'
import { installationPrefix, openRedisStore } from '../../src/stores/redis/redis-store.ts'
import { readWindowCounts } from '../../src/stores/sliding-window.ts'
import { describeBackends, describeReal, waitForRedis } from '../harness/backends.ts'

let lastProject = Date.now() % 1_000_000_000

describeBackends('rate windows', backend => {
  async function openWindows(keyLimit: number, addressLimit: number) {
    const { store } = await backend.open()
    const project = ++lastProject
    const windows = [
      { name: keyWindowName(project, 1), limit: keyLimit },
      { name: addressWindowName(project, '192.0.2.1'), limit: addressLimit },
    ]
    return { store, project, windows, pass: (requests: number) => store.count({ requests, windows, entries: [] }) }
  }

  test('admit exactly the limit, whatever the number of simultaneous requests', async () => {
    const { pass } = await openWindows(60, 120)
    const verdicts = await Promise.all(Array.from({ length: 300 }, () => pass(1)))
    expect(verdicts.reduce((sum, verdict) => sum + verdict.granted, 0)).toBe(60)
  })

  test('report when to retry, within a minute and a second', async () => {
    const { pass } = await openWindows(5, 120)
    const startedAtMs = performance.now()
    const { granted, waitMs } = await pass(9)
    expect(granted).toBe(5)
    expect(waitMs).toBeGreaterThan(59_000 - (performance.now() - startedAtMs))
    expect(waitMs).toBeLessThanOrEqual(61_000)
  })

  test('count in both windows or in neither', async () => {
    const { store, project, windows, pass } = await openWindows(100, 10)
    expect((await pass(10)).granted).toBe(10)
    expect((await pass(1)).granted).toBe(0)
    const keyAlone = await store.count({ requests: 1, windows: windows.slice(0, 1), entries: [] })
    // Ten of the first batch, and this one: the rejected request left no trace in the key's window.
    expect(keyAlone.totals).toEqual([11])
    expect(project).toBeGreaterThan(0)
  })

  test('a batch that is admitted whole or not at all uses nothing while it does not fit, and is told when it does', async () => {
    const { store, windows, pass } = await openWindows(1_000, 2_000)
    const startedAtMs = performance.now()
    await pass(500)
    const large = () => store.count({ requests: 600, isAllOrNothing: true, windows, entries: [] })
    const small = () => store.count({ requests: 50, isAllOrNothing: true, windows, entries: [] })
    const verdicts = await Promise.all(Array.from({ length: 30 }, (_, i) => (i % 3 === 0 ? small() : large())))
    expect(verdicts.map(({ granted }) => granted)).toEqual(verdicts.map((_, i) => (i % 3 === 0 ? 50 : 0)))
    expect(verdicts[1]?.waitMs).toBeGreaterThan(59_000 - (performance.now() - startedAtMs))
    expect((await large()).totals).toEqual([1_000, 1_000])
  })

  test('refund what was counted and rejected later', async () => {
    const { store, windows, pass } = await openWindows(10, 10)
    const { receipt } = await pass(10)
    await store.uncount(
      windows.map(window => window.name),
      4,
      receipt,
    )
    expect((await pass(9)).granted).toBe(4)
  })

  test('read entries in the same call, but none for rejected requests', async () => {
    const { store, project, windows } = await openWindows(1, 10)
    const name = entryName(project, 1, 'ab')
    await store.writeEntry(name, new Uint8Array([1, 2, 0, 255]), 60_000)
    const passed = await store.count({ requests: 1, windows, entries: [name, entryName(project, 2, 'ab')] })
    expect(passed.entries.map(entry => entry && [...entry])).toEqual([[1, 2, 0, 255], null])
    const refused = await store.count({ requests: 1, windows, entries: [name] })
    expect(refused.entries).toEqual([null])
  })
})

test.each([-7, -3_600])(
  'a clock that steps by %i s neither empties a window nor keeps it full for longer',
  async step => {
    let nowMs = 1_700_000_000_000
    const store = createInProcessStore({ now: () => nowMs })
    const pass = async () =>
      (await store.count({ requests: 1, windows: [{ name: '{1}:k:1', limit: 3 }], entries: [] })).granted
    expect([await pass(), await pass()]).toEqual([1, 1])
    nowMs += step * 1_000
    expect([await pass(), await pass()]).toEqual([1, 0])
    for (let second = 1; second <= 60; second++) {
      nowMs += 1_000
      expect(await pass()).toBe(0)
    }
    nowMs += 1_000
    expect([await pass(), await pass(), await pass(), await pass()]).toEqual([1, 1, 1, 0])
    await store.close()
  },
)

/** The encoding of windows.lua. `counts` are of the seconds up to the last one. */
function writeWindow(lastSecond: number, counts: readonly number[]): Buffer {
  const bytes = Buffer.alloc(12 + 61 * 4)
  bytes.writeUInt32BE(counts.reduce((sum, count) => sum + count, 0))
  bytes.writeUInt32BE(lastSecond, 4)
  bytes.writeUInt32BE(4_711, 8)
  for (const [i, count] of counts.entries())
    bytes.writeUInt32BE(count, 12 + ((lastSecond - counts.length + 1 + i) % 61) * 4)
  return bytes
}

describeReal('windows in a Redis whose clock steps', backend => {
  const INSTALLATION = crypto.randomUUID()

  async function openWindow() {
    const { redisUrl } = await backend.open()
    const redis = new Redis(redisUrl ?? '')
    const store = openRedisStore(connectRedis(redisUrl ?? ''), INSTALLATION)
    onTestFinished(async () => void (await Promise.all([redis.quit(), store.close()])))
    await waitForRedis(store)
    const name = keyWindowName(++lastProject, 1)
    const key = installationPrefix(INSTALLATION) + name
    return {
      second: Number((await redis.time())[0]),
      /** Writes the window as a clock that was ahead by these seconds would have. */
      write: (counts: readonly number[], lastSecond: number) =>
        redis.set(key, writeWindow(lastSecond, counts), 'EX', 61),
      /** `second`: the second by the caller's clock. */
      ask: (remembered: Uint8Array | null = null, second?: number) =>
        store.count({
          requests: 9,
          windows: [{ name, limit: 10, lastSeen: remembered }],
          entries: [],
          ...(second === undefined ? {} : { second }),
        }),
    }
  }
  const seen = ({ windows }: CountResult) => readWindowCounts(windows?.[0] as Uint8Array)

  test('back by seconds: counts keep their age', async () => {
    const { second, write, ask } = await openWindow()
    await write([3, 0, 4], second + 20)
    const counted = await ask()
    expect(counted).toMatchObject({ granted: 3, totals: [10] })
    // The last ones are treated as counted now, and the first ones are two seconds older.
    expect(seen(counted).slice(-3)).toEqual([3, 0, 7])
  })

  test('back by an hour: a window starts again, with what its callers remember', async () => {
    const { second, write, ask } = await openWindow()
    await write([10], second + 3_600)
    expect(await ask()).toMatchObject({ granted: 9, totals: [9] })
    await write([10], second + 3_600)
    // Five of them were counted half a minute ago.
    const remembered = writeWindow(second + 3_590, [5, ...Array<number>(20).fill(0)])
    const restored = await ask(remembered, second + 3_600)
    expect(restored).toMatchObject({ granted: 5, totals: [10] })
    const ages = seen(restored).flatMap((count, i) => (count > 0 ? [60 - i] : []))
    expect([ages.length, ages[1]]).toEqual([2, 0])
    expect(ages[0]).toBeGreaterThanOrEqual(30)
    expect(ages[0]).toBeLessThan(40)
  })

  test('on by an hour: it is restored, too, because Redis has expired it', async () => {
    const stepped = await openWindow()
    const remembered = writeWindow(stepped.second - 3_600, [10])
    expect((await stepped.ask(remembered, stepped.second - 3_600)).granted).toBe(0)
    // Without a clock step the window has expired.
    const { second, ask } = await openWindow()
    expect((await ask(remembered, second)).granted).toBe(9)
  })
})

test('in no interval of 60 seconds is more than the limit admitted, whatever the pace', async () => {
  let nowMs = 1_700_000_000_000
  const store = createInProcessStore({ now: () => nowMs })
  const passedAtMs: number[] = []
  // Pseudo-random times over five minutes, with bursts and pauses.
  let seed = 7
  for (let i = 0; i < 4_000; i++) {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    nowMs += seed % 5 === 0 ? seed % 900 : seed % 20
    const { granted } = await store.count({ requests: 1, windows: [{ name: '{1}:k:1', limit: 50 }], entries: [] })
    if (granted === 1) passedAtMs.push(nowMs)
  }
  await store.close()
  expect(passedAtMs.length).toBeGreaterThan(200)
  for (let i = 50; i < passedAtMs.length; i++) {
    expect((passedAtMs[i] ?? 0) - (passedAtMs[i - 50] ?? 0)).toBeGreaterThan(60_000)
  }
})
