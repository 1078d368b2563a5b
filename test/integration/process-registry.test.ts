import { expect, test, vi } from 'vitest'
import { connectRedis } from '../../src/stores/redis/connect-redis.ts'
import { type ProcessRegistry, registerProcess } from '../../src/stores/redis/process-registry.ts'
import { describeReal } from '../harness/backends.ts'
import { eventLoopTick } from '../harness/event-loop.ts'
import { waitUntil } from '../harness/wait-until.ts'

const BEAT_MS = 1_500

describeReal('the processes that share a Redis', backend => {
  async function meet(installationId: string, onCount = async (_living: number) => {}) {
    const { redisUrl } = await backend.open()
    if (redisUrl === null) throw new Error('the backend has no Redis')
    const redis = connectRedis(redisUrl)
    const listener = connectRedis(redisUrl, { isSubscriber: true })
    const fleet: ProcessRegistry = registerProcess({
      redis,
      listener,
      installationId,
      workers: 1,
      heartbeatIntervalMs: BEAT_MS,
      onProcessCountChange: onCount,
    })
    return { fleet, redis, close: () => [redis, listener].map(each => each.disconnect()) }
  }

  test('a process knows that it is alone a heartbeat after it was counted alone, and at once that another has started', async () => {
    const id = crypto.randomUUID()
    // Heartbeats are sent by the test only, so that all other knowledge comes from messages.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const first = await meet(id)
    vi.useRealTimers()
    const isAloneByItsBeat = async () => {
      await first.fleet.sendHeartbeat()
      return first.fleet.isOnlyProcess()
    }
    await waitUntil('the Redis client is ready', () => first.redis.status === 'ready')
    expect(await isAloneByItsBeat()).toBe(false)
    expect(first.fleet.processCount()).toBe(1)
    await waitUntil('the process is counted alone', isAloneByItsBeat)
    const second = await meet(id)
    await waitUntil('the process has seen the other', () => !first.fleet.isOnlyProcess())
    expect(first.fleet.processCount()).toBe(2)
    expect(second.fleet.isOnlyProcess()).toBe(false)
    await second.fleet.deregister()
    await waitUntil('the process is counted alone again', isAloneByItsBeat)
    first.close()
    second.close()
  })

  test('when Redis loses its data, neither of two treats itself as the only one', async () => {
    const id = crypto.randomUUID()
    const both = [await meet(id), await meet(id)]
    await waitUntil('both processes count two', () => both.every(({ fleet }) => fleet.processCount() === 2))
    await both[0]?.redis.del(`mp:${id.slice(0, 8)}:fleet`)
    const untilMs = performance.now() + 2.5 * BEAT_MS
    while (performance.now() < untilMs) {
      expect(both.some(({ fleet }) => fleet.isOnlyProcess())).toBe(false)
      await eventLoopTick()
    }
    expect(both.map(({ fleet }) => fleet.processCount())).toEqual([2, 2])
    for (const { close } of both) close()
  })

  test('reports each change after the one before, the newest last, and again if it was not accepted', async () => {
    const id = crypto.randomUUID()
    const reported: string[] = []
    const refused = Promise.withResolvers<void>()
    const taken = Promise.withResolvers<void>()
    const first = await meet(id, async living => {
      reported.push(`begin ${living}`)
      if (reported.length === 1) await refused.promise
      if (reported.length === 2) await taken.promise
      reported.push(`end ${living}`)
    })
    await waitUntil('the Redis client is ready', () => first.redis.status === 'ready')
    const second = await meet(id)
    await waitUntil('the first change is reported', () => reported.length === 1)
    refused.reject(new Error('no connection'))
    await waitUntil('a second change is reported', () => reported.length === 2)
    const third = await meet(id)
    await waitUntil('three processes are counted', () => first.fleet.processCount() === 3)
    taken.resolve()
    await waitUntil('all changes are reported', () => reported.length === 5)
    expect(reported).toEqual(['begin 2', 'begin 2', 'end 2', 'begin 3', 'end 3'])
    for (const { close } of [first, second, third]) close()
  })
})
