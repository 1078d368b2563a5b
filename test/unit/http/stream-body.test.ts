import { expect, test, vi } from 'vitest'
import { streamBody } from '../../../src/http/stream-body.ts'

const encode = (text: string) => new TextEncoder().encode(text)

/** A source that is written to from outside. */
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

test('comments stand in a stream’s silence, between events alone', async () => {
  const source = openSource()
  const onEnd = vi.fn()
  const text = new Response(streamBody(source.stream, { hasEvents: true, onEnd, keepAliveEveryMs: 40 })).text()
  await Bun.sleep(100)
  source.send('data: 1\n\n')
  source.send('data: 2')
  await Bun.sleep(100)
  source.send('\r\n\r\n')
  await Bun.sleep(100)
  source.close()
  const parts = (await text).split(/(?<=\n)(?=data|: )|(?<=\n\r?\n)/)
  expect(parts.filter(part => part !== ': keep-alive\n\n')).toEqual(['data: 1\n\n', 'data: 2\r\n\r\n'])
  expect(parts[0]).toBe(': keep-alive\n\n')
  expect(parts.at(-1)).toBe(': keep-alive\n\n')
  expect(onEnd).toHaveBeenCalledTimes(1)
})

test('what is not made of events gets no comments', async () => {
  const source = openSource()
  const text = new Response(streamBody(source.stream, { hasEvents: false, onEnd() {}, keepAliveEveryMs: 20 })).text()
  await Bun.sleep(80)
  source.send('{}')
  source.close()
  expect(await text).toBe('{}')
})

test('a client that leaves cancels the source', async () => {
  const source = openSource()
  const onEnd = vi.fn()
  const reader = streamBody(source.stream, { hasEvents: true, onEnd }).getReader()
  source.send('data: 1\n\n')
  await reader.read()
  await reader.cancel('gone')
  expect(source.cancel).toHaveBeenCalledWith('gone')
  expect(onEnd).toHaveBeenCalledTimes(1)
})

test('a client that never reads is given up', async () => {
  const source = openSource()
  const onEnd = vi.fn()
  const stream = streamBody(source.stream, { hasEvents: true, onEnd, unreadLimitMs: 60 })
  source.send('data: 1\n\n')
  await vi.waitFor(() => expect(onEnd).toHaveBeenCalledTimes(1))
  expect(source.cancel).toHaveBeenCalledTimes(1)
  await expect(new Response(stream).text()).rejects.toThrow('does not read')
})

test('an error of the source is passed on', async () => {
  const onEnd = vi.fn()
  const failing = new ReadableStream<Uint8Array>({ pull: () => Promise.reject(new Error('broken off')) })
  await expect(new Response(streamBody(failing, { hasEvents: true, onEnd })).text()).rejects.toThrow('broken off')
  expect(onEnd).toHaveBeenCalledTimes(1)
})
