import type { AddressInfo } from 'node:net'
import { createServer, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { callUpstream } from '../../../src/providers/call-upstream.ts'
import { createConnectionProbe } from '../../../src/providers/connection-probe.ts'
import { Credentials } from '../../../src/providers/credentials/credentials.ts'
import type { UpstreamResponse } from '../../../src/providers/upstream.ts'

const SECRET = 'sk-of-the-operator'
const limits = {
  connectTimeoutMs: 1_000,
  firstByteTimeoutMs: 60_000,
  idleTimeoutMs: 1_000,
  maxEventBytes: 100_000,
  maxResponseBytes: 200_000,
}

let server: Server | undefined
let sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets) socket.destroy()
  sockets = []
  server?.close()
})

/** Calls a server that writes `bytes` once, and then `more` repeatedly until the connection is closed. */
async function callRaw(bytes: string, more?: string, shorter?: Partial<typeof limits>): Promise<UpstreamResponse> {
  const listening = createServer(socket => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write(bytes)
      const writeOn = () => {
        if (more !== undefined && !socket.destroyed) socket.write(more, () => setImmediate(writeOn))
      }
      writeOn()
    })
  })
  server = listening
  await new Promise<void>(resolve => listening.listen(0, '127.0.0.1', resolve))
  const { port } = listening.address() as AddressInfo
  return callUpstream({
    name: 'p',
    url: `http://127.0.0.1:${port}/v1`,
    headers: new Headers({ authorization: `Bearer ${SECRET}` }),
    credentials: new Credentials([SECRET]),
    body: '{}',
    signal: new AbortController().signal,
    limits: { ...limits, ...shorter },
    probe: createConnectionProbe(),
  })
}

const head = (status: number | string, type: string, more = '') =>
  `HTTP/1.1 ${status} X\r\ncontent-type: ${type}\r\n${more}connection: close\r\n\r\n`
const whole = (text: string) => `content-length: ${text.length}\r\n`

async function readBytes({ body }: UpstreamResponse): Promise<number> {
  let bytes = 0
  for await (const chunk of body) bytes += chunk.length
  return bytes
}

describe('a response without an end', () => {
  test.each(['data: {"x":"', '\n'])('aborts an event of a stream: %j, repeated', async first => {
    const answer = await callRaw(`${head(200, 'text/event-stream')}${first}`, 'data: y\n'.repeat(500))
    const error = await readBytes(answer).catch((failure: unknown) => failure)
    expect(error).toMatchObject({
      status: 502,
      code: 'upstream_error',
      message: 'Upstream p sent an event of more than 100000 bytes.',
    })
  })

  test.each(['\n\n', '\r\n\r\n', '\r\r'])('but allows any number of events that end: %j', async end => {
    const event = `data: ${'y'.repeat(20_000)}${end}`
    const text = event.repeat(50)
    expect(await readBytes(await callRaw(`${head(200, 'text/event-stream', whole(text))}${text}`))).toBe(text.length)
  })

  test('aborts a plain response', async () => {
    const answer = await callRaw(head(200, 'application/json'), 'x'.repeat(10_000))
    await expect(readBytes(answer)).rejects.toMatchObject({
      status: 502,
      message: 'Upstream p sent a response of more than 200000 bytes.',
    })
  })

  test('truncates an error', async () => {
    const answer = await callRaw(head(500, 'application/json'), 'x'.repeat(10_000))
    await expect(readBytes(answer)).rejects.toMatchObject({ status: 502 })
  })
})

describe('a status that no client may get', () => {
  test.each([999, 600, 204, 301])('%i', async status => {
    await expect(callRaw(`${head(status, 'application/json', whole('{}'))}{}`)).rejects.toMatchObject({
      status: 502,
      code: 'upstream_error',
      message: expect.stringContaining(`(status ${status})`),
    })
  })
})

describe.each([200, 401])('a response with status %i that contains the key that was sent', status => {
  test('is redacted in its body, and not stored', async () => {
    const text = `{"choices":[],"note":"${SECRET}"}`
    const answer = await callRaw(`${head(status, 'application/json', whole(text))}${text}`)
    expect(await new Response(answer.body).text()).toBe('{"choices":[],"note":"[redacted]"}')
    expect(answer.isStorable()).toBe(false)
  })

  test('is redacted in a header', async () => {
    const named = `x-request-id: ${SECRET}\r\nx-ratelimit-limit-${SECRET}: 1\r\n`
    const answer = await callRaw(`${head(status, 'application/json', named + whole('{}'))}{}`)
    expect([...answer.headers]).toEqual([
      ['content-type', 'application/json'],
      ['x-upstream-request-id', '[redacted]'],
    ])
    expect([await new Response(answer.body).text(), answer.isStorable()]).toEqual(['{}', true])
  })
})

test('loses a trailer or a reason phrase with it', async () => {
  const phrase = `HTTP/1.1 401 ${SECRET}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\ntrailer: x-request-id\r\n\r\n`
  const answer = await callRaw(`${phrase}2\r\n{}\r\n0\r\nx-request-id: ${SECRET}\r\n\r\n`)
  expect(await new Response(answer.body).text()).toBe('{}')
  expect(JSON.stringify([answer, ...answer.headers])).not.toContain(SECRET)
})

test.each([
  ['no-store', false],
  ['private, max-age=0, No-Store', false],
  ['private, no-cache, max-age=0', true],
  ['x-no-store', true],
])('a response with Cache-Control: %s may be stored: %s', async (control, may) => {
  const answer = await callRaw(`${head(200, 'application/json', `cache-control: ${control}\r\n${whole('{}')}`)}{}`)
  expect(await new Response(answer.body).text()).toBe('{}')
  expect(answer.isStorable()).toBe(may)
})

test('redacts the key that was sent in an error', async () => {
  const text = `{"error":{"message":"Incorrect API key provided: ${SECRET}."}}`
  const answer = await callRaw(`${head(401, 'application/json', whole(text))}${text}`)
  expect(answer.status).toBe(401)
  expect(await new Response(answer.body).text()).toBe('{"error":{"message":"Incorrect API key provided: [redacted]."}}')
})

test('after a silent provider, tells clients not to retry, because it may be working', async () => {
  await expect(callRaw('', undefined, { firstByteTimeoutMs: 50 })).rejects.toMatchObject({
    status: 504,
    headers: { 'x-should-retry': 'false' },
  })
})

/** Starts a server that accepts connections and never sends anything. */
async function startMuteServer(): Promise<number> {
  const listening = createServer(socket => {
    sockets.push(socket)
    socket.on('error', () => {})
  })
  server = listening
  await new Promise<void>(resolve => listening.listen(0, '127.0.0.1', resolve))
  return (listening.address() as AddressInfo).port
}

const callMute = async (protocol: 'http' | 'https') =>
  callUpstream({
    name: 'p',
    url: `${protocol}://127.0.0.1:${await startMuteServer()}/v1`,
    headers: new Headers(),
    credentials: new Credentials([]),
    body: '{}',
    signal: new AbortController().signal,
    limits: { ...limits, connectTimeoutMs: 100, firstByteTimeoutMs: 300 },
    probe: createConnectionProbe(),
  })

describe('the limit on connecting', () => {
  test('includes the TLS handshake', async () => {
    await expect(callMute('https')).rejects.toMatchObject({
      status: 504,
      kind: 'connect-timeout',
      message: 'Upstream p timed out: no connection within 100 ms.',
    })
  })

  test('does not include the response', async () => {
    await expect(callMute('http')).rejects.toMatchObject({ status: 504, kind: 'silent' })
  })
})
