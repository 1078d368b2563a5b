import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ClientDisconnected, createError, ProxyError } from '../../../../src/errors/errors.ts'
import type { ProxyResponse } from '../../../../src/pipeline/request/request.ts'
import { type EarlyHeadersOptions, sendHeadersEarly } from '../../../../src/pipeline/response/early-headers.ts'

const AFTER_MS = 10_000
const KEEP_ALIVE = ': keep-alive\n\n'
const encoder = new TextEncoder()

const HEAD: EarlyHeadersOptions = {
  afterMs: AFTER_MS,
  keepAlive: encoder.encode(KEEP_ALIVE),
  writeHeaders: async () => ({ 'content-type': 'text/event-stream' }),
  writeFailure: error => encoder.encode(`failed with ${error.status}: ${error.message}`),
}

function streamed(...pieces: string[]): ProxyResponse {
  return { status: 200, headers: { 'x-from': 'provider' }, body: new Blob(pieces).stream() }
}

/** Waits until the headers of a pending response are sent early. */
async function sendHead(responding: Promise<ProxyResponse>): Promise<ProxyResponse> {
  const responded = sendHeadersEarly(responding, HEAD)
  await vi.advanceTimersByTimeAsync(AFTER_MS)
  return responded
}

const textOf = ({ body }: ProxyResponse) => new Response(body as ReadableStream<Uint8Array>).text()

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

describe('sending headers early', () => {
  test('returns a response that arrives in time unchanged, and leaves no timer behind', async () => {
    const response = streamed('data: Hi\n\n')
    expect(await sendHeadersEarly(Promise.resolve(response), HEAD)).toBe(response)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('rejects with a failure that arrives in time, and leaves no timer behind', async () => {
    const failure = createError('upstreamInterrupted')
    await expect(sendHeadersEarly(Promise.reject(failure), HEAD)).rejects.toBe(failure)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('sends the headers after the silence, and not before', async () => {
    const { promise, resolve } = Promise.withResolvers<ProxyResponse>()
    let isSent = false
    const responded = sendHeadersEarly(promise, HEAD).then(response => {
      isSent = true
      return response
    })
    await vi.advanceTimersByTimeAsync(AFTER_MS - 1)
    expect(isSent).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(isSent).toBe(true)
    const head = await responded
    expect([head.status, head.headers]).toEqual([200, { 'content-type': 'text/event-stream' }])
    resolve(streamed('data: Hi\n\n'))
    expect(await textOf(head)).toBe(`${KEEP_ALIVE}data: Hi\n\n`)
  })

  test('continues with the response that arrives', async () => {
    const { promise, resolve } = Promise.withResolvers<ProxyResponse>()
    const head = await sendHead(promise)
    const text = textOf(head)
    resolve({ status: 200, headers: {}, body: encoder.encode('data: Hi\n\n') })
    expect(await text).toBe(`${KEEP_ALIVE}data: Hi\n\n`)
  })

  test.each([
    [createError('upstreamInterrupted'), 'failed with 502: '],
    [new ProxyError({ status: 429, code: 'rate_limit_exceeded', message: 'Slower.' }), 'failed with 429: Slower.'],
    [new Error('secret'), 'failed with 500: '],
  ])('reports a failure after the headers as an event: %s', async (failure, written) => {
    const { promise, reject } = Promise.withResolvers<ProxyResponse>()
    const text = textOf(await sendHead(promise))
    reject(failure)
    expect(await text).toContain(`${KEEP_ALIVE}${written}`)
    expect(await text).not.toContain('secret')
  })

  test('repeats a provider’s own error message', async () => {
    const { promise, resolve } = Promise.withResolvers<ProxyResponse>()
    const text = textOf(await sendHead(promise))
    const body = encoder.encode('{"error":{"message":"Slower.","type":"rate_limit_error"}}')
    resolve({ status: 429, headers: {}, body })
    expect(await text).toBe(`${KEEP_ALIVE}failed with 429: Slower.`)
  })

  test('writes nothing for a client that has disconnected', async () => {
    const { promise, reject } = Promise.withResolvers<ProxyResponse>()
    const text = textOf(await sendHead(promise))
    reject(new ClientDisconnected())
    expect(await text).toBe(KEEP_ALIVE)
  })

  test('cancels the response if its client disconnects before it has arrived', async () => {
    const { promise, resolve } = Promise.withResolvers<ProxyResponse>()
    const head = await sendHead(promise)
    const cancelled = Promise.withResolvers<unknown>()
    const leaving = (head.body as ReadableStream<Uint8Array>).cancel('gone')
    resolve({ status: 200, headers: {}, body: new ReadableStream({ cancel: reason => cancelled.resolve(reason) }) })
    expect(await cancelled.promise).toBe('gone')
    await leaving
  })
})
