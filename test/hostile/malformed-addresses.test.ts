/** Requests with an unreadable URL, at every endpoint: a 400 that names Host, and no warning in the log. Also pipelined requests. */
import { beforeAll, describe, expect, test } from 'vitest'
import { TARGETS_BY_PATH } from '../../src/http/paths.ts'
import { PASS_THROUGH_OPERATIONS } from '../../src/providers/pass-through-operations.ts'
import { describeEmbedded } from '../harness/backends.ts'
import { duringTests } from '../harness/during-tests.ts'
import { GEMINI_PATHS } from '../harness/gemini-paths.ts'
import { startProxy } from '../harness/proxy.ts'
import { createMemoryLog } from '../integration/hostile/memory-log.ts'
import { sendRaw } from '../integration/hostile/raw-http.ts'

const ENDPOINT_CASES = [
  ...Object.keys(TARGETS_BY_PATH),
  ...GEMINI_PATHS,
  ...Object.keys(PASS_THROUGH_OPERATIONS).map(operation => `/v1/${operation}`),
  '/v1/files',
  '/v1/files/file-1/content',
  '/v1/batches/batch_1/cancel',
  '/v1/responses/resp_1',
  '/v1/models/openai/gpt-4o',
  '/v1/organization/projects',
  '/dashboard',
  '/dashboard/api/login',
  '/nowhere',
]
const BAD_HOSTS = [
  '[',
  'a b',
  'x:99999',
  'x:-1',
  'x:abc',
  '',
  'u@x',
  'x/y',
  'x?y',
  'x#y',
  'x\\y',
  '\xe9',
  '%zz',
  'a,b',
  '1.2.3.4.5',
]
const HEALTH = 'GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n'

describeEmbedded('malformed addresses', backend => {
  const log = createMemoryLog()
  const proxy = duringTests(() => startProxy({ stores: backend.open(), log, environment: { DASHBOARD: 'on' } }))
  let key: string

  beforeAll(async () => {
    key = await proxy.createKey({ type: 'test' })
  })

  const send = (text: string, responses = 1) =>
    sendRaw({ port: proxy.port, parts: [Buffer.from(text, 'latin1')], responses, timeLimitMs: 20_000 })

  async function expectRefusal(text: string): Promise<void> {
    const { responses } = await send(text)
    expect([responses[0]?.status, responses[0]?.body], text).toEqual([
      400,
      expect.stringContaining('Host header must be one host name'),
    ])
  }

  describe.each([...BAD_HOSTS.map(host => `Host: ${host}`), 'Host: a\r\nHost: b', 'Host: a\r\nHost: a'])('%j', host => {
    test.each(['GET', 'POST', 'OPTIONS', 'HEAD'])('%s', async method => {
      log.take()
      for (const path of ENDPOINT_CASES) {
        const text = `${method} ${path} HTTP/1.1\r\n${host}\r\nAuthorization: Bearer ${key}\r\n\r\n`
        if (method === 'HEAD') expect((await send(text)).received).toContain('HTTP/1.1 400')
        else await expectRefusal(text)
      }
      expect(log.take().filter(line => JSON.parse(line).level > 30)).toEqual([])
    })
  })

  test.each(['127.0.0.1:443', 'x', '[::1]:80', '*', '['])('CONNECT %s', async target => {
    await expectRefusal(`CONNECT ${target} HTTP/1.1\r\nHost: x\r\n\r\n`)
  })

  test('HTTP/1.0 needs no host', async () => {
    const { responses } = await send('GET /v1/health HTTP/1.0\r\n\r\n')
    expect(responses[0]?.status).toBe(200)
  })

  async function countRequests(): Promise<number | undefined> {
    const [counted] = await proxy.query<{ requests: number }>(
      'select coalesce(sum(requests), 0)::integer as requests from monthly_counters',
    )
    return counted?.requests
  }

  test('pipelined requests are cut off, and not counted', async () => {
    const body = JSON.stringify({ model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'Twice?' }] })
    const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json`
    const post = `${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    const { received, hungUp } = await send(post + post, 2)
    expect([received, hungUp]).toEqual(['', true])
    expect((await send(HEALTH)).responses[0]?.status).toBe(200)
    await proxy.settle()
    // The count of a cut connection is refunded.
    await expect.poll(countRequests).toBe(0)
  })
})
