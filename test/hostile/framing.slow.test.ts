/**
 * Malformed HTTP at every port of a process: each request is rejected or its connection closed, the next client is served, and the log has
 * no error.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findFreePort } from '../../scripts/bench/processes.ts'
import { type ProxyProcess, startProxyProcess } from '../faults/proxy-process.ts'
import { type RawPart, sendRaw } from '../integration/hostile/raw-http.ts'

const PORTS = { proxy: findFreePort(), dashboard: findFreePort(), metrics: findFreePort() }
type EndpointCase = keyof typeof PORTS
/** For each port, a path that responds and a path that accepts a body. */
const ENDPOINT_CASES: Record<EndpointCase, { fine: string; path: string }> = {
  proxy: { fine: '/v1/health', path: '/v1/chat/completions' },
  dashboard: { fine: '/dashboard/api/login-options', path: '/dashboard/api/login' },
  metrics: { fine: '/metrics', path: '/metrics' },
}
const BODY = '{"email":"a@b.example","password":"x","model":"m","messages":[]}'
const SECRET = 'attacker-was-here'
/** Matches an error in the log, a stack trace, or the client's text. */
const ALARM = new RegExp(`"level":[56]0|^ +at |${SECRET}`, 'm')

interface Attack {
  /** The number of requests that a correct server reads. */
  requests: number
  parts(path: string): RawPart[]
}

const text = (...lines: string[]) => Buffer.from(lines.join('\r\n'), 'latin1')
const head = (line: string, headers: string[], body = '') => text(line, ...headers, '', body)
const post =
  (headers: string[], body = BODY) =>
  (path: string) => [head(`POST ${path} HTTP/1.1`, ['Host: x', 'Content-Type: application/json', ...headers], body)]
const get =
  (headers: string[], line = (path: string) => `GET ${path} HTTP/1.1`) =>
  (path: string) => [head(line(path), headers)]
const LENGTH = `Content-Length: ${BODY.length}`
const CHUNKED = 'Transfer-Encoding: chunked'
const chunk = (part: string) => `${part.length.toString(16)}\r\n${part}\r\n`
const SMUGGLED = `GET /smuggled?${SECRET} HTTP/1.1\r\nHost: x\r\n\r\n`
const one = (parts: Attack['parts']): Attack => ({ requests: 1, parts })

const HOSTS = ['', '[', 'a b', 'x:99999', 'x:-1', 'u@x', 'x/y', 'x?y', '\xe9', 'a,b', '%zz', `${'a'.repeat(9_000)}`]
const LENGTHS = ['-1', '+5', '0x10', '1e3', ' ', '5, 5', '5;5', '9'.repeat(30), 'NaN', '5 5', '\x0b5', '4294967296']
const CODINGS = [
  'gzip',
  'identity',
  'xchunked',
  'chunked, identity',
  'chunked, chunked',
  'gzip, chunked',
  'chunked;a=b',
  '\x0bchunked',
]
const CHUNKS = ['g', '-1', '0x5', '5 ', '+5', 'f'.repeat(17), '5;', `5;${'a'.repeat(20_000)}`, '', '\n', '5\n']
const LINES = [
  'GET / HTTP/1.2',
  'GET / HTTP/2.0',
  'GET /',
  'GET  / HTTP/1.1',
  ' GET / HTTP/1.1',
  'GET / HTTP/1.1 ',
  'GET\t/\tHTTP/1.1',
  'GET / http/1.1',
  'OPTIONS * HTTP/1.1',
  'CONNECT x:443 HTTP/1.1',
  'CONNECT / HTTP/1.1',
  'TRACE / HTTP/1.1',
  'GET x HTTP/1.1',
  'GET //x/y HTTP/1.1',
  'GET /\\..\\.. HTTP/1.1',
  'GET /%00 HTTP/1.1',
  'GET /%ff%fe HTTP/1.1',
  'GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1',
  'GET http://[ HTTP/1.1',
  'GET http://x:99999/ HTTP/1.1',
  'GET ftp://x/ HTTP/1.1',
  'GET file:///etc/passwd HTTP/1.1',
  'GET javascript:1 HTTP/1.1',
  'GET http:// HTTP/1.1',
  'GET \x00 HTTP/1.1',
  `GET /${'a'.repeat(20_000)} HTTP/1.1`,
  'PRI * HTTP/2.0\r\n\r\nSM',
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  '\x05\x01\x00',
  '',
  '\r\n\r\n',
  `${SECRET}`,
]
const HEADERS: Record<string, string> = {
  'a folded line': `X-A: b\r\n ${SECRET}`,
  'no colon': SECRET,
  'no name': `: ${SECRET}`,
  'a space before the colon': `X-A : ${SECRET}`,
  'a NUL': `X-A: ${SECRET}\0`,
  'a bare CR': `X-A: a\rSet-Cookie: ${SECRET}`,
  '20 kB': `X-A: ${'a'.repeat(20_000)}`,
  '500 of them': Array.from({ length: 500 }, (_, i) => `X-${i}: ${i}`).join('\r\n'),
  'an upgrade':
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13',
  'an upgrade to HTTP/2': 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__',
  'an expectation': 'Expect: 200-ok',
  'odd cookies': 'Cookie: =; ; a; model_proxy_session=; __Host-model_proxy_session=\xff; model_proxy_session=;;',
  'odd authorization': 'Authorization: Bearer \xff\xfe',
  'an odd origin': 'Origin: \xff://[',
  'odd addresses': 'X-Forwarded-For: ,,, \xff, 1.2.3.4.5, ::g, fe80::1%\xff\r\nX-Forwarded-Proto: ,,',
}

const ATTACKS: Record<string, Attack> = {
  ...Object.fromEntries(HOSTS.map(host => [`Host: ${host.slice(0, 20)}`, one(get([`Host: ${host}`]))])),
  'two hosts': one(get(['Host: x', 'Host: y'])),
  'no host': one(get([])),
  ...Object.fromEntries(
    LINES.map(line => [`line ${JSON.stringify(line.slice(0, 40))}`, one(get(['Host: x'], () => line))]),
  ),
  ...Object.fromEntries(Object.entries(HEADERS).map(([name, header]) => [name, one(get(['Host: x', header]))])),
  ...Object.fromEntries(
    Object.entries(HEADERS).map(([name, header]) => [`${name}, with a body`, one(post([LENGTH, header]))]),
  ),
  ...Object.fromEntries(LENGTHS.map(length => [`Content-Length: ${length}`, one(post([`Content-Length: ${length}`]))])),
  'two lengths': one(post([LENGTH, 'Content-Length: 5'])),
  'two lengths, the shorter first': one(post(['Content-Length: 5', LENGTH])),
  'a length and chunks': one(post([LENGTH, CHUNKED], `${chunk(BODY)}0\r\n\r\n`)),
  'chunks that end before the length, and a request behind them': one(
    post([CHUNKED, `Content-Length: ${SMUGGLED.length + 5}`], `0\r\n\r\n${SMUGGLED}`),
  ),
  'a length that ends before the chunks, and a request behind it': one(
    post(['Content-Length: 4', CHUNKED], `${SMUGGLED.length.toString(16)}\r\n${SMUGGLED}\r\n0\r\n\r\n`),
  ),
  ...Object.fromEntries(
    CODINGS.map(coding => [
      `Transfer-Encoding: ${coding}`,
      one(post([`Transfer-Encoding: ${coding}`], `${chunk(BODY)}0\r\n\r\n`)),
    ]),
  ),
  'two codings': one(post([CHUNKED, 'Transfer-Encoding: identity'], `${chunk(BODY)}0\r\n\r\n`)),
  ...Object.fromEntries(
    CHUNKS.map(size => [
      `a chunk of ${JSON.stringify(size.slice(0, 9))}`,
      one(post([CHUNKED], `${size}\r\n${BODY}\r\n0\r\n\r\n`)),
    ]),
  ),
  'a chunk longer than it says': one(post([CHUNKED], `5\r\n${BODY}\r\n0\r\n\r\n`)),
  'bare line feeds': one(path => [
    Buffer.from(head(`POST ${path} HTTP/1.1`, ['Host: x', LENGTH], BODY).toString('latin1').replaceAll('\r', '')),
  ]),
  'garbage behind a body': one(path => [...post([LENGTH])(path), `\0\0${SECRET}\r\n\r\n`]),
  'a body of a GET': {
    requests: 1,
    parts: path => [head(`GET ${path} HTTP/1.1`, ['Host: x', `Content-Length: ${SMUGGLED.length}`], SMUGGLED)],
  },
  'POSTs at once': { requests: 2, parts: path => [Buffer.concat([...post([LENGTH])(path), ...post([LENGTH])(path)])] },
  'HTTP/1.0 that would be kept alive': {
    requests: 2,
    parts: path => [head(`POST ${path} HTTP/1.0`, ['Connection: keep-alive', LENGTH], BODY), SMUGGLED],
  },
}

/**
 * The start of a request that a client continues byte by byte, and the time limit. Bun limits the head of the first and of the next
 * request.
 */
const SLOW: Record<string, { begins: (door: EndpointCase) => string; withinSeconds: number }> = {
  'a first head': { begins: () => '', withinSeconds: 12 },
  'the head of a next request': {
    begins: door => `GET ${ENDPOINT_CASES[door].fine} HTTP/1.1\r\nHost: x\r\n\r\n`,
    withinSeconds: 60,
  },
  'a body': {
    begins: door =>
      `POST ${ENDPOINT_CASES[door].path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n{"model":"`,
    withinSeconds: 60,
  },
}
const PAUSES_MS = [500, 9_000]
const SLACK_SECONDS = 15

/** Returns the seconds until the server closes the connection. */
function drip(port: number, begins: string, pauseMs: number): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  const sent = Buffer.from(`GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ${'a'.repeat(1_000)}`)
  const startedAtMs = performance.now()
  let at = 0
  const socket = connect(port, '127.0.0.1', () => socket.write(begins))
  const timer = setInterval(() => socket.write(sent.subarray(at, ++at)), pauseMs)
  socket.on('error', () => {})
  socket.on('data', () => {})
  socket.on('close', () => {
    clearInterval(timer)
    resolve((performance.now() - startedAtMs) / 1000)
  })
  return promise
}

describe('malformed framing', () => {
  let dataDir: string
  let proxy: ProxyProcess

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'model-proxy-framing-'))
    proxy = await startProxyProcess({
      DATA_DIR: dataDir,
      EMBEDDED_PG_PORT: '0',
      PORT: String(PORTS.proxy),
      DASHBOARD: String(PORTS.dashboard),
      METRICS_PORT: String(PORTS.metrics),
    })
  })
  afterAll(async () => {
    proxy?.signal('SIGKILL')
    await proxy?.ended()
    await rm(dataDir, { recursive: true, force: true })
  })

  describe.each(Object.keys(PORTS) as EndpointCase[])('at the port of %s', door => {
    const port = PORTS[door]
    const { fine, path } = ENDPOINT_CASES[door]
    const farewell = `GET ${fine} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`

    test.each(Object.entries(ATTACKS))('%s', async (_, { requests, parts }) => {
      const logLength = proxy.output().length
      // Each response comes before the last request's, or the connection is already closed.
      const { responses, received } = await sendRaw({
        port,
        parts: [...parts(path), farewell],
        responses: () => false,
        timeLimitMs: 20_000,
      })
      expect(responses.filter(({ status }) => status >= 500 && status !== 505)).toEqual([])
      expect(responses.length).toBeLessThanOrEqual(requests + 1)
      expect(received).not.toContain(SECRET)
      const served = await sendRaw({ port, parts: [farewell], responses: 1, timeLimitMs: 20_000 })
      expect(served.responses[0]?.status).toBe(200)
      expect(proxy.output().slice(logLength)).not.toMatch(ALARM)
    })
  })

  test('disconnects a client that sends byte by byte', async () => {
    const cases = (Object.keys(PORTS) as EndpointCase[]).flatMap(door =>
      Object.entries(SLOW).flatMap(([what, slow]) => PAUSES_MS.map(pauseMs => ({ door, what, pauseMs, ...slow }))),
    )
    const late = await Promise.all(
      cases.map(async ({ door, what, pauseMs, begins, withinSeconds }) => {
        const seconds = await drip(PORTS[door], begins(door), pauseMs)
        return seconds > withinSeconds + SLACK_SECONDS ? [`${door}, ${what}, ${pauseMs} ms: ${seconds} s`] : []
      }),
    )
    expect(late.flat()).toEqual([])
  }, 120_000)
})
