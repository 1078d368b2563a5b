import { Redis } from 'ioredis'
import { test } from 'vitest'
import { createFallbackStore, type FallbackStore } from '../../src/stores/fallback-store.ts'
import { connectRedis } from '../../src/stores/redis/connect-redis.ts'
import { openRedisStore } from '../../src/stores/redis/redis-store.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { describeFaults } from './describe-faults.ts'
import { type PrivateServer, startRedis } from './servers.ts'

const INSTALLATION = 'c0ffee00-0000-0000-0000-000000000000'
const LIMIT = 30

/** A Redis for one test, so that tests whose faults take seconds to detect can run concurrently. */
interface Scene {
  server: PrivateServer
  redis: Redis
  /** Opens stores for this number of further processes, each with its own connection. Returns all stores so far. */
  openGuards(processes: number): Promise<FallbackStore[]>
  close(): Promise<void>
}

const NAME = '{1}:k'
const KEY = `mp:${INSTALLATION.slice(0, 8)}:${NAME}`

async function openScene(): Promise<Scene> {
  const server = await startRedis()
  const redis = new Redis(server.url)
  redis.on('error', () => {})
  const guards: FallbackStore[] = []
  return {
    server,
    redis,
    async openGuards(processes) {
      for (let i = 0; i < processes; i++) {
        const guard = createFallbackStore(openRedisStore(connectRedis(server.url), INSTALLATION), {
          processCount: () => processes,
        })
        guards.push(guard)
        await waitUntil('Redis responds', () =>
          guard.ping().then(
            () => true,
            () => false,
          ),
        )
      }
      return guards
    },
    async close() {
      await Promise.all(guards.map(guard => guard.close()))
      redis.disconnect()
      await server.remove()
    },
  }
}

/** Sends requests one after the other, alternating between the processes. Returns the number of admitted ones. */
async function pass(stores: readonly FallbackStore[], requests: number): Promise<number> {
  let passed = 0
  for (let i = 0; i < requests; i++) {
    const store = stores[i % stores.length] as FallbackStore
    const { granted } = await store.count({ requests: 1, windows: [{ name: NAME, limit: LIMIT }], entries: [] })
    passed += granted
  }
  return passed
}

async function waitUntilBack(stores: readonly FallbackStore[]): Promise<void> {
  await waitUntil('Redis is back', async () => {
    // Uses another key's window, so that the test's own window does not change.
    for (const store of stores)
      await store.count({ requests: 1, windows: [{ name: '{1}:probe', limit: 1e9 }], entries: [] })
    return stores.every(store => store.isUp())
  })
}

interface Fault {
  begin(scene: Scene): unknown
  end?(scene: Scene): unknown
}

const FAULTS: Record<string, Fault> = {
  'a restart without its data': {
    begin: ({ server }) => server.stop(),
    end: ({ server }) => server.start(),
  },
  'a flush': { begin: ({ redis }) => redis.flushall() },
  'a stall': { begin: ({ server }) => server.freeze(), end: ({ server }) => server.thaw() },
  'a memory that is full': {
    begin: ({ redis }) => redis.config('SET', 'maxmemory', '1'),
    end: ({ redis }) => redis.config('SET', 'maxmemory', '0'),
  },
  'a server that takes no writes': {
    begin: ({ redis }) => redis.config('SET', 'min-replicas-to-write', '1'),
    end: ({ redis }) => redis.config('SET', 'min-replicas-to-write', '0'),
  },
  'a key of another type': { begin: ({ redis }) => redis.multi().del(KEY).lpush(KEY, 'x').exec() },
  'an eviction': { begin: ({ redis }) => redis.del(KEY) },
}

describeFaults('rate windows while Redis is down', () => {
  test.concurrent.for(Object.entries(FAULTS))(
    '%s admits no more than its limit in one process',
    async ([, fault], { expect, onTestFinished }) => {
      const scene = await openScene()
      onTestFinished(scene.close)
      const stores = await scene.openGuards(1)
      expect(await pass(stores, 20)).toBe(20)
      await fault.begin(scene)
      expect(await pass(stores, 5)).toBe(5)
      await fault.end?.(scene)
      await waitUntilBack(stores)
      const passed = await pass(stores, 20)
      expect(passed).toBeLessThanOrEqual(5)
      // Redis may have counted a call that it did not respond to.
      expect(passed).toBeGreaterThanOrEqual(3)
      // Redis has all counts again, so a new process admits nothing.
      const fresh = (await scene.openGuards(1)).slice(1)
      expect(await pass(fresh, 20)).toBe(0)
    },
  )

  test.concurrent.for(Object.entries(FAULTS))(
    '%s admits no more in four processes than they have seen of each other',
    async ([, fault], { expect, onTestFinished }) => {
      const scene = await openScene()
      onTestFinished(scene.close)
      const stores = await scene.openGuards(4)
      expect(await pass(stores, 20)).toBe(20)
      await fault.begin(scene)
      const meanwhile = await pass(stores, 40)
      await fault.end?.(scene)
      await waitUntilBack(stores)
      const passed = 20 + meanwhile + (await pass(stores, 40))
      expect(passed).toBeGreaterThanOrEqual(27)
      // A process knows the counts of the others until its own last request. The last process in turn made that three requests ago.
      expect(passed).toBeLessThanOrEqual(LIMIT + 3)
    },
  )

  test.concurrent('what one of four processes had not seen of a window is bounded by its share', async ({
    expect,
    onTestFinished,
  }) => {
    const scene = await openScene()
    onTestFinished(scene.close)
    const stores = await scene.openGuards(4)
    expect(await pass(stores.slice(0, 1), 40)).toBe(LIMIT)
    scene.server.freeze()
    expect(await pass(stores, 40)).toBeLessThanOrEqual(3 * Math.floor(LIMIT / 4))
    scene.server.thaw()
    await waitUntilBack(stores)
    expect(await pass(stores, 40)).toBe(0)
  })

  // Not concurrent, because it blocks this process.
  test('a process that stalls does not treat Redis as lost', async ({ expect, onTestFinished }) => {
    const scene = await openScene()
    onTestFinished(scene.close)
    const [store] = await scene.openGuards(1)
    const passing = pass([store as FallbackStore], 1)
    const endsAtMs = performance.now() + 1_200
    while (performance.now() < endsAtMs);
    expect(await passing).toBe(1)
    expect(store?.isUp()).toBe(true)
  })
})
