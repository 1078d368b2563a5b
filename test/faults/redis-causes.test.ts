import { beforeAll, describe, expect, test } from 'vitest'
import { connectRedis } from '../../src/stores/redis/connect-redis.ts'
import { explainRedisError, isDatabaseMissing } from '../../src/stores/redis/explain-redis-error.ts'
import { openRedisStore } from '../../src/stores/redis/redis-store.ts'
import { duringTests } from '../harness/during-tests.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { missingServers, startRedis } from './servers.ts'

describe.skipIf(missingServers !== null)('a Redis that cannot be used', () => {
  const server = duringTests(startRedis)
  let port: string

  beforeAll(async () => {
    port = new URL(server.url).port
    await cli('acl', 'setuser', 'narrow', 'on', '>right', '~other:*', '+@all')
  })

  async function cli(...args: string[]): Promise<void> {
    const child = Bun.spawn(['redis-cli', '-p', port, ...args], { stdout: 'pipe', stderr: 'pipe' })
    expect(await new Response(child.stdout).text()).toBe('OK\n')
  }

  /** Returns the logged cause, once it matches. */
  async function causeAt(url: string, form: RegExp): Promise<string> {
    const redis = connectRedis(url)
    const store = openRedisStore(redis, 'aabbccddeeff')
    let cause = ''
    await waitUntil(`the cause matches ${form}`, async (): Promise<boolean> => {
      const failure: unknown = await store.ping().then(
        () => null,
        (error: unknown) => error,
      )
      cause = JSON.stringify(explainRedisError(redis, failure))
      return failure !== null && form.test(cause)
    })
    await store.close()
    return cause
  }

  test.each([
    ['nothing listens', (): string => 'redis://127.0.0.1:1', /ECONNREFUSED.*nothing listens there/],
    [
      'a wrong password',
      (): string => `redis://narrow:wrong@127.0.0.1:${port}`,
      /WRONGPASS.*correct user and password/,
    ],
    ['a user without rights', (): string => `redis://narrow:right@127.0.0.1:${port}`, /NOPERM.*ACL SETUSER/],
    ['TLS where there is none', (): string => `rediss://127.0.0.1:${port}`, /use redis:\/\/ in place/],
  ] as const)('%s', { timeout: 60_000 }, async (_title, url, form) => {
    const cause = await causeAt(url(), form)
    expect(cause).not.toContain('right@')
  })

  test('reports a database that does not exist, although Redis responds', async () => {
    const redis = connectRedis(`redis://127.0.0.1:${port}/99`)
    await waitUntil('the missing database is detected', () => isDatabaseMissing(redis) && redis.status === 'ready')
    expect(explainRedisError(redis, null)).toMatchObject({ remedy: expect.stringContaining('name another database') })
    redis.disconnect()
  })

  test('a replica, a full one, and one that requires a password', { timeout: 60_000 }, async () => {
    await cli('replicaof', '127.0.0.1', '1')
    await causeAt(server.url, /READONLY.*must lead to the master/)
    await cli('replicaof', 'no', 'one')
    await cli('config', 'set', 'maxmemory', '1')
    await causeAt(server.url, /OOM.*raise its maxmemory/)
    await cli('config', 'set', 'maxmemory', '0')
    await cli('config', 'set', 'requirepass', 'secret')
    await causeAt(server.url, /NOAUTH.*needs a password/)
  })
})
