import { createServer, type Server } from 'node:net'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { findFreePort } from '../../scripts/bench/processes.ts'
import { describeReal } from '../harness/backends.ts'
import { spawnProxy } from './proxy-process.ts'

/** Starts a proxy that must fail, and returns its output. */
async function failToStart(environment: Record<string, string>, args: readonly string[] = []): Promise<string> {
  const proxy = spawnProxy(environment, args)
  expect(await proxy.ended()).toBe(1)
  const output = proxy.output().trim()
  // A heading, then one line for each problem, without a stack trace.
  expect(output).toMatch(/^Cannot start:\n( {2}(?: {2})?\S.*\n?)+$/)
  expect(output).not.toMatch(/\n +at /)
  return output
}

test('names every bad value at once', async () => {
  const output = await failToStart({
    PORT: 'http',
    WORKERS: '0',
    DATABASE_URL: 'localhost',
    REDIS_URL: 'localhost:6379',
  })
  expect(output.split('\n').map(line => line.trim().split(' ')[0])).toEqual([
    'Cannot',
    'DATABASE_URL',
    'REDIS_URL',
    'PORT',
    'WORKERS',
  ])
})

test.each([['--halp'], ['--worker', '--halp'], ['lgw_proj_mistaken']])(
  'rejects arguments, and does not repeat them: %s',
  async (...args) => {
    const output = await failToStart({}, args)
    expect(output).toContain('The server takes no such argument')
    for (const each of args) expect(output).not.toContain(each)
  },
)

test('several workers need shared stores', async () => {
  expect(await failToStart({ WORKERS: '2' })).toContain('WORKERS must be 1 unless DATABASE_URL and REDIS_URL are set')
})

test.each(['1', '2'])(
  'names a DATABASE_URL that does not respond, without its password (WORKERS=%s)',
  async workers => {
    const output = await failToStart({
      PORT: String(findFreePort()),
      DATABASE_URL: `postgres://user:s3cret@127.0.0.1:${findFreePort()}/proxy`,
      REDIS_URL: 'redis://127.0.0.1:1',
      WORKERS: workers,
    })
    expect(output).toContain('DATABASE_URL must point to a PostgreSQL that the proxy can use. 127.0.0.1:')
    expect(output).toContain('ECONNREFUSED')
    expect(output).not.toContain('s3cret')
  },
)

describeReal('a start that must fail', backend => {
  let holder: Server | null = null
  afterEach(() => {
    holder?.close()
    holder = null
  })

  async function holdPort(): Promise<number> {
    const port = findFreePort()
    holder = createServer().listen(port, '127.0.0.1')
    await new Promise(resolve => holder?.once('listening', resolve))
    return port
  }

  let realStores: Record<string, string>
  // Uses its own database, because a template with open connections cannot be copied.
  beforeAll(async () => {
    const { databaseUrl, redisUrl } = await backend.open()
    realStores = { DATABASE_URL: databaseUrl ?? '', REDIS_URL: redisUrl ?? '' }
  })

  test.each(['1', '2'])('names a port in use (WORKERS=%s)', async workers => {
    const port = await holdPort()
    const output = await failToStart({ ...realStores, PORT: String(port), WORKERS: workers })
    expect(output).toContain(`PORT must be free on 127.0.0.1, and ${port} is in use.`)
  })

  test('names a HOST that does not belong to this machine', async () => {
    const output = await failToStart({ ...realStores, HOST: '192.0.2.1', PORT: String(findFreePort()) })
    expect(output).toContain('HOST and PORT must be an address of this machine; 192.0.2.1:')
  })

  test('names a database that does not exist', async () => {
    const { DATABASE_URL = '', REDIS_URL = '' } = realStores
    const url = new URL(DATABASE_URL)
    url.pathname = '/no_such_database'
    const output = await failToStart({ DATABASE_URL: url.href, REDIS_URL, PORT: String(findFreePort()) })
    expect(output).toContain('the server has no database no_such_database')
  })
})
