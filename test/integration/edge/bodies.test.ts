import { beforeAll, expect, test } from 'vitest'
import { describeOnce } from '../../harness/backends.ts'
import { duringTests } from '../../harness/during-tests.ts'
import { startProxy } from '../../harness/proxy.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { type RawOptions, type RawPart, sendRaw } from '../hostile/raw-http.ts'

const MIB = 1024 * 1024

describeOnce('request bodies on the wire', backend => {
  const proxy = duringTests(() =>
    startProxy({ dashboard: true, stores: backend.open(), environment: { MAX_BODY_BYTES: String(MIB) } }),
  )
  let key: string

  beforeAll(async () => {
    key = await proxy.createKey()
  })

  const head = (headers: readonly string[], authorization = key) =>
    `POST /v1/chat/completions HTTP/1.1\r\nHost: proxy\r\nAuthorization: Bearer ${authorization}\r\n${headers.map(header => `${header}\r\n`).join('')}\r\n`

  /** Sends on one connection until the expected responses have come (two by default), or the proxy closes the connection. */
  const send = (parts: RawPart[], responses: RawOptions['responses'] = 2) =>
    sendRaw({ port: proxy.port, parts, responses, timeLimitMs: 50_000 })

  test('a body announced as too large is rejected before a byte of it was sent, and the connection ends', async () => {
    const { responses, hungUp } = await send([head([`Content-Length: ${MIB + 1}`])])
    expect(responses.map(({ status, headers }) => [status, headers.get('connection')])).toEqual([[413, 'close']])
    expect(JSON.parse(responses[0]?.body ?? '')).toMatchObject({ error: { code: 'request_too_large' } })
    expect(hungUp).toBe(true)
  })

  test('a body in chunks is rejected as soon as it is too large', async () => {
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`
    const { responses, hungUp } = await send([head(['Transfer-Encoding: chunked']), ...Array(18).fill(chunk)])
    expect(responses.map(({ status, headers }) => [status, headers.get('connection')])).toEqual([[413, 'close']])
    expect(hungUp).toBe(true)
  })

  test('a large body that is rejected unread ends its connection and says so', async () => {
    const { responses, hungUp } = await send([head([`Content-Length: ${MIB}`, 'Content-Type: text/plain'])])
    expect(responses.map(({ status, headers }) => [status, headers.get('connection')])).toEqual([[415, 'close']])
    expect(hungUp).toBe(true)
  })

  test.each([
    ['GET', '/v1/health', 200],
    ['POST', '/v1/health', 405],
    ['GET', '/v1/models', 200],
    ['DELETE', '/v1/chat/completions', 405],
    ['POST', '/nowhere', 404],
    ['GET', '/dashboard/nothing.js', 404],
    ['GET', '/v1/organization/projects', 401],
    ['POST', '/dashboard/api/login', 415],
  ])('a large body where none is read ends its connection: %s %s', async (method, path, status) => {
    for (const framing of [`Content-Length: ${MIB}`, 'Transfer-Encoding: chunked']) {
      const started = head([framing, 'Content-Type: text/plain']).replace(
        'POST /v1/chat/completions',
        `${method} ${path}`,
      )
      const { responses, hungUp } = await send([started])
      expect(responses.map(answer => [answer.status, answer.headers.get('connection')])).toEqual([[status, 'close']])
      expect(hungUp).toBe(true)
    }
  })

  test('a small rejected body leaves its connection to the next request', async () => {
    const request = `${head(['Content-Length: 2'], 'no-key')}{}`
    const { responses } = await send([request, 50, request])
    expect(responses.map(({ status }) => status)).toEqual([401, 401])
  })

  test('bodies in memory are bounded together; later ones are told when to retry', async () => {
    const started = `${head([`Content-Length: ${MIB}`])}{`
    const { promise: oneTooMany, resolve: goOn } = Promise.withResolvers<void>()
    const body = [started, oneTooMany, ' '.repeat(MIB - 1)]
    // A rejected request counts only once the proxy also closes the connection.
    const sent = Array.from({ length: 13 }, () => send(body, ([first]) => first?.status === 400))
    const late = await Promise.race(sent)
    expect(late.responses.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual([[503, '1']])
    expect(JSON.parse(late.responses[0]?.body ?? '')).toMatchObject({ error: { code: 'too_many_large_requests' } })
    expect(late.hungUp).toBe(true)
    goOn()
    // The other bodies are read, and are invalid JSON. Parsing one reserves more memory, so some may be rejected then.
    const answered = await Promise.all(sent)
    const statuses = answered.map(({ responses }) => responses[0]?.status)
    expect(new Set(statuses)).toEqual(new Set([400, 503]))
    expect(statuses.filter(status => status === 400).length).toBeGreaterThanOrEqual(4)
    // The memory of answered requests is free after a moment.
    const next = [`${head([`Content-Length: ${MIB}`])}${' '.repeat(MIB)}`, 50, head(['Content-Length: 0'])]
    const isTaken = ({ responses }: Awaited<ReturnType<typeof send>>) => responses.every(({ status }) => status === 400)
    await waitUntil('other bodies are accepted', async () => {
      const after = await send(next)
      return after.responses.length === 2 && isTaken(after)
    })
  })
})
