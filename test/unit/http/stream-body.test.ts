import { describe, expect, test, vi } from 'vitest'
import { ResponseMemory } from '../../../src/event-loop/response-memory.ts'
import { StreamMemory } from '../../../src/event-loop/stream-memory.ts'
import { type StreamBodyOptions, streamBody as stream } from '../../../src/http/stream-body.ts'
import { passMs, useTestClock } from '../../harness/test-clock.ts'

const budget = new StreamMemory(1_000_000)
const streamBody = (source: ReadableStream<Uint8Array>, options: Omit<StreamBodyOptions, 'memory'>) =>
  stream(source, { ...options, memory: new ResponseMemory(budget) })

const encode = (text: string) => new TextEncoder().encode(text)

/** A source that the test writes to. */
function openSource() {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  const cancel = vi.fn()
  const stream = new ReadableStream<Uint8Array>({
    start(given) {
      controller = given
    },
    cancel,
  })
  return { stream, cancel, send: (text: string) => controller?.enqueue(encode(text)), close: () => controller?.close() }
}

describe('while upstream is silent', () => {
  useTestClock()

  test('sends comments while a stream is silent, only between events', async () => {
    const source = openSource()
    const onEnd = vi.fn()
    const text = new Response(streamBody(source.stream, { hasEvents: true, onEnd, keepAliveEveryMs: 40 })).text()
    await passMs(100)
    source.send('data: 1\n\n')
    source.send('data: 2')
    await passMs(100)
    source.send('\r\n\r\n')
    await passMs(100)
    source.close()
    const parts = (await text).split(/(?<=\n)(?=data|: )|(?<=\n\r?\n)/)
    expect(parts.filter(part => part !== ': keep-alive\n\n')).toEqual(['data: 1\n\n', 'data: 2\r\n\r\n'])
    expect(parts[0]).toBe(': keep-alive\n\n')
    expect(parts.at(-1)).toBe(': keep-alive\n\n')
    expect(onEnd).toHaveBeenCalledTimes(1)
  })

  test('sends no comments in a body that has no events', async () => {
    const source = openSource()
    const text = new Response(streamBody(source.stream, { hasEvents: false, onEnd() {}, keepAliveEveryMs: 20 })).text()
    await passMs(80)
    source.send('{}')
    source.close()
    expect(await text).toBe('{}')
  })
})

test('a client that disconnects cancels the source', async () => {
  const source = openSource()
  const onEnd = vi.fn()
  const reader = streamBody(source.stream, { hasEvents: true, onEnd }).getReader()
  source.send('data: 1\n\n')
  await reader.read()
  await reader.cancel('gone')
  expect(source.cancel).toHaveBeenCalledWith('gone')
  expect(onEnd).toHaveBeenCalledTimes(1)
})

test('disconnects a client that never reads', async () => {
  const source = openSource()
  const onEnd = vi.fn()
  const body = streamBody(source.stream, { hasEvents: true, onEnd, unreadLimitMs: 60 })
  source.send('data: 1\n\n')
  await vi.waitFor(() => expect(onEnd).toHaveBeenCalledTimes(1))
  expect(source.cancel).toHaveBeenCalledTimes(1)
  await expect(new Response(body).text()).rejects.toThrow('does not read')
})

test('forwards an error of the source', async () => {
  const onEnd = vi.fn()
  const failing = new ReadableStream<Uint8Array>({ pull: () => Promise.reject(new Error('broken off')) })
  await expect(new Response(streamBody(failing, { hasEvents: true, onEnd })).text()).rejects.toThrow('broken off')
  expect(onEnd).toHaveBeenCalledTimes(1)
})

/** Streams the bytes as a complete response with its own memory budget. */
function serveWhole(bytes: Uint8Array, size = 1_000_000) {
  const memory = new StreamMemory(size)
  const response = new ResponseMemory(memory)
  const [onEnd, disconnect] = [vi.fn(), vi.fn()]
  const body = stream(bytes, { hasEvents: false, memory: response, onEnd, disconnect })
  return { memory, response, body, onEnd, disconnect }
}

test('sends whole bytes in pieces, and counts them until the last is read', async () => {
  const bytes = crypto.getRandomValues(new Uint8Array(65_536))
  const whole = new Uint8Array(200_000).map((_, at) => bytes[at % bytes.length] ?? 0)
  const { memory, body, onEnd } = serveWhole(whole)
  const reader = body.getReader()
  const pieces: Uint8Array[] = []
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    pieces.push(read.value)
    if (pieces.length < 3) expect(memory.heldBytes).toBeGreaterThanOrEqual(whole.length)
  }
  expect(pieces.map(({ length }) => length)).toEqual([65_536, 65_536, 65_536, 200_000 - 3 * 65_536])
  expect(Buffer.concat(pieces).equals(whole)).toBe(true)
  expect(memory.heldBytes).toBe(0)
  expect(onEnd).toHaveBeenCalledTimes(1)
})

test('counts bytes once that were counted while they were read', async () => {
  const memory = new StreamMemory(1_000_000)
  const response = new ResponseMemory(memory)
  response.add(200_000)
  const body = stream(new Uint8Array(200_000), { hasEvents: false, memory: response, onEnd() {} })
  await vi.waitFor(() => expect(memory.heldBytes).toBe(265_536))
  await body.cancel()
  expect(memory.heldBytes).toBe(0)
})

test('in a full memory budget, disconnects a client that reads nothing and closes its connection', async () => {
  const { memory, body, onEnd, disconnect } = serveWhole(new Uint8Array(200_000), 150_000)
  expect(memory.isFull).toBe(true)
  await vi.waitFor(() => expect(disconnect).toHaveBeenCalledTimes(1), 5_000)
  expect(onEnd).toHaveBeenCalledTimes(1)
  expect([memory.heldBytes, memory.isFull, memory.disconnects]).toEqual([0, false, 1])
  await expect(new Response(body).bytes()).rejects.toThrow('does not read')
})

test('counts what a provider has sent and the runtime has read ahead while the client reads nothing', async () => {
  const memory = new StreamMemory(10_000_000)
  const source = openSource()
  const body = stream(source.stream, { hasEvents: false, memory: new ResponseMemory(memory), onEnd() {} })
  source.send('a'.repeat(100_000))
  await vi.waitFor(() => expect(memory.heldBytes).toBe(100_000 + 1_572_864))
  await body.cancel()
  expect(memory.heldBytes).toBe(0)
})
