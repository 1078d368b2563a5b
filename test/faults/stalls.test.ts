import { Redis } from 'ioredis'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { startFakeProvider } from '../fake-provider/server.ts'
import { question, textOf } from '../harness/chat.ts'
import { ask, post } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { openAccounts } from './accounts.ts'
import { describeFaults } from './describe-faults.ts'
import { startProxyProcess } from './proxy-process.ts'
import { startPostgres, startRedis } from './servers.ts'

const STREAMS = 24
const STALL_MS = 5_000
/** The streams take some seconds longer than a stall. */
const LONG_STREAM = { kind: 'answer', contentChars: 640, chunkPauseMs: 100 } as const

describeFaults('followers in another process', () => {
  const postgres = duringTests(startPostgres)
  const redis = duringTests(startRedis)
  const upstream = duringTests(startFakeProvider)
  const database = duringTests(() => openServerDatabase({ url: postgres.url, maxConnections: 2 }))
  const start = () => startProxyProcess({ DATABASE_URL: postgres.url, REDIS_URL: redis.url, ...upstream.environment })
  const leading = duringTests(start)
  const following = duringTests(start)
  let key: string

  beforeAll(async () => {
    key = (await openAccounts(database).create({ type: 'project' })).key
  })
  beforeEach(() => {
    upstream.reset()
    upstream.script(LONG_STREAM)
  })

  /** Sends streams that one process leads and the other follows. Resolves once all of them are in flight. */
  async function shareStreams(name: string, count = STREAMS) {
    const bodies = Array.from({ length: count }, (_, i) => question(`${name} ${i}?`, { stream: true }))
    const leaders = bodies.map(body => ask(leading, key, body))
    await waitUntil('the requests of the leaders arrived', () => upstream.requests.length === count)
    const followers = await Promise.all(bodies.map(body => post(following, key, '/chat/completions', body)))
    return { leaders, followers: followers.map(response => response.text()) }
  }

  async function expectWhole({ leaders, followers }: Awaited<ReturnType<typeof shareStreams>>): Promise<void> {
    const led = await Promise.all(leaders)
    const followed = await Promise.all(followers)
    for (const answer of led) expect(answer.text.trimEnd()).toMatch(/data: \[DONE\]$/)
    expect(followed.map(text => textOf({ json: null, text }))).toEqual(led.map(textOf))
    expect(upstream.requests).toHaveLength(led.length)
  }

  test(`survive ${STALL_MS / 1_000} s in which Redis stands still, streamed ones too`, async () => {
    const streams = await shareStreams('Frozen')
    redis.freeze()
    await Bun.sleep(STALL_MS)
    redis.thaw()
    await expectWhole(streams)
  })

  test('survive a restart of Redis', async () => {
    const streams = await shareStreams('Restarted')
    await redis.stop()
    await Bun.sleep(1_000)
    await redis.start()
    await expectWhole(streams)
  })

  test('survive the end of their connections to Redis', async () => {
    const streams = await shareStreams('Cut')
    const operator = new Redis(redis.url)
    for (let time = 0; time < 8; time++) {
      await operator.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
      await Bun.sleep(300)
    }
    operator.disconnect()
    await expectWhole(streams)
  })

  test('of a leader whose process is killed: a stream ends with an error, others get their own response', async () => {
    const { leaders, followers } = await shareStreams('Killed', 2)
    const plain = question('Killed plainly?')
    upstream.script({ kind: 'hang', after: 'nothing' })
    const lead = ask(leading, key, plain).catch(() => null)
    await waitUntil('its request arrived', () => upstream.requests.length === 3)
    const followed = ask(following, key, plain)
    await Bun.sleep(500)
    leading.signal('SIGKILL')
    const killedAtMs = performance.now()
    await Promise.allSettled([...leaders, lead])
    upstream.script({ kind: 'answer', content: 'my own' })
    for (const text of await Promise.all(followers)) {
      expect(text).toContain('data: {"error":')
      expect(text).not.toContain('[DONE]')
    }
    expect(performance.now() - killedAtMs).toBeLessThan(15_000)
    expect(textOf(await followed)).toBe('my own')
    expect((await followed).cache).toBe('MISS')
  })
})
