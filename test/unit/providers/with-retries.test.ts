import { describe, expect, test, vi } from 'vitest'
import { ProxyError } from '../../../src/errors/errors.ts'
import { Credentials } from '../../../src/providers/credentials/credentials.ts'
import type { Provider, UpstreamRequest, UpstreamResponse } from '../../../src/providers/upstream.ts'
import {
  brokenResponseError,
  circuitOpenError,
  connectTimeoutError,
  responseTimeoutError,
  unreachableError,
} from '../../../src/providers/upstream-failure.ts'
import { withRetries } from '../../../src/providers/with-retries.ts'
import { eventLoopTick } from '../../harness/event-loop.ts'

type Step = Error | { status: number; headers?: Record<string, string>; credentials?: Credentials }

const refused = () => unreachableError('p', Object.assign(new Error(), { code: 'ECONNREFUSED' }))
const reset = () => unreachableError('p', Object.assign(new Error(), { code: 'ECONNRESET' }))

/** A provider that returns or throws these steps in order and repeats the last one. */
function scripted(...steps: Step[]) {
  const bodies: ReadableStream[] = []
  const ask = vi.fn(async (_request: UpstreamRequest): Promise<UpstreamResponse> => {
    const step = steps[Math.min(ask.mock.calls.length, steps.length) - 1]
    if (step instanceof Error) throw step
    const body = new ReadableStream({ pull: controller => controller.close() })
    bodies.push(body)
    const { status = 200, headers, ...more } = step ?? {}
    return { status, headers: new Headers(headers), body, isStorable: () => true, ...more }
  })
  const provider: Provider = { name: 'p', pricedAs: null, send: ask }
  return { provider, ask, bodies }
}

function request(fields: Partial<UpstreamRequest> = {}): UpstreamRequest {
  const signal = new AbortController().signal
  return { endpoint: 'chat', bodyText: '{}', body: {}, headers: new Headers(), stream: false, signal, ...fields }
}

/** Retries without a wait of their own. Only the provider's headers make them wait. */
const eager = { maxRetries: 2, random: () => 0 }

describe('retries', () => {
  test.each([408, 429, 500, 502, 503, 504, 520, 529])('status %i', async status => {
    const { provider, ask } = scripted({ status }, { status: 200 })
    expect((await withRetries(provider, eager).send(request())).status).toBe(200)
    expect(ask).toHaveBeenCalledTimes(2)
  })

  test.each([200, 400, 401, 403, 404, 409, 413, 422, 501, 505])('not status %i', async status => {
    const { provider, ask } = scripted({ status })
    expect((await withRetries(provider, eager).send(request())).status).toBe(status)
    expect(ask).toHaveBeenCalledTimes(1)
  })

  test.each([
    ['a refused connection', refused()],
    ['a reset connection', reset()],
  ])('%s', async (_, failure) => {
    const { provider, ask } = scripted(failure, { status: 200 })
    expect((await withRetries(provider, eager).send(request())).status).toBe(200)
    expect(ask).toHaveBeenCalledTimes(2)
  })

  test.each([
    ['a connect timeout', connectTimeoutError('p', 5)],
    ['a silent upstream, which may be generating', responseTimeoutError('p', 'first byte', 5)],
    ['an unusable response', brokenResponseError('p', 'answered with a redirect')],
    ['an open circuit', circuitOpenError('p', 5)],
    ['a request that the provider module rejected', new ProxyError({ status: 400, code: 'x', message: 'x' })],
  ])('not %s', async (_, failure) => {
    const { provider, ask } = scripted(failure)
    await expect(withRetries(provider, eager).send(request())).rejects.toBe(failure)
    expect(ask).toHaveBeenCalledTimes(1)
  })

  test('twice at most; then returns the last outcome', async () => {
    const failing = scripted(reset(), reset(), { status: 503 }, { status: 200 })
    expect((await withRetries(failing.provider, eager).send(request())).status).toBe(503)
    const last = refused()
    const unreachableTwice = scripted({ status: 500 }, { status: 500 }, last)
    await expect(withRetries(unreachableTwice.provider, eager).send(request())).rejects.toBe(last)
  })

  test('with the credentials of earlier attempts, which are all redacted', async () => {
    const [first, second, third] = ['sk-first', 'sk-second', 'sk-third'].map(secret => new Credentials([secret]))
    const failed = Object.assign(reset(), { credentials: second })
    const { provider, ask } = scripted({ status: 503, ...(first && { credentials: first }) }, failed, { status: 200 })
    const earlierCredentials = third ? [third] : []
    await withRetries(provider, eager).send(request({ earlierCredentials }))
    expect(ask.mock.calls.map(([asked]) => asked.earlierCredentials)).toEqual([
      [third],
      [third, first],
      [third, first, second],
    ])
  })

  test('nothing if retries are disabled', async () => {
    const { provider, ask } = scripted({ status: 500 })
    expect((await withRetries(provider, { maxRetries: 0 }).send(request())).status).toBe(500)
    expect(ask).toHaveBeenCalledTimes(1)
  })

  test('nothing that the upstream asks not to repeat', async () => {
    const { provider, ask } = scripted({ status: 429, headers: { 'x-should-retry': 'false' } })
    expect((await withRetries(provider, eager).send(request())).status).toBe(429)
    expect(ask).toHaveBeenCalledTimes(1)
  })

  test('a request whose response is stored upstream only if it cannot have arrived', async () => {
    const stored = request({ body: { store: true } })
    for (const [step, calls] of [
      [reset(), 1],
      [{ status: 500 }, 1],
      [refused(), 2],
      [{ status: 429 }, 2],
    ] as [Step, number][]) {
      const { provider, ask } = scripted(step, { status: 200 })
      await withRetries(provider, eager)
        .send(stored)
        .catch(() => {})
      expect(ask).toHaveBeenCalledTimes(calls)
    }
  })
})

describe('delay between attempts', () => {
  /** Returns the durations of the timers that it sets, in milliseconds. The timers fire at once. */
  async function waitsOf(random: number, ...steps: Step[]): Promise<(number | undefined)[]> {
    const { setTimeout: startTimer } = globalThis
    const timers = vi
      .spyOn(globalThis, 'setTimeout')
      .mockImplementation(((run: () => void) => startTimer(run, 0)) as never)
    try {
      await withRetries(scripted(...steps).provider, { maxRetries: 2, random: () => random }).send(request())
      return timers.mock.calls.map(([, milliseconds]) => milliseconds)
    } finally {
      timers.mockRestore()
    }
  }

  test('has full jitter: any share of a limit that doubles', async () => {
    expect(await waitsOf(0.5, { status: 500 }, { status: 500 }, { status: 200 })).toEqual([125, 250])
    expect(await waitsOf(0, { status: 500 }, { status: 200 })).toEqual([0])
  })

  test('follows Retry-After', async () => {
    expect(await waitsOf(0, { status: 429, headers: { 'retry-after-ms': '150' } }, { status: 200 })).toEqual([150])
  })

  test('is none if Retry-After is longer than a client would wait: it is forwarded instead', async () => {
    const { provider, ask } = scripted({ status: 429, headers: { 'retry-after': '6' } })
    const answer = await withRetries(provider, eager).send(request())
    expect(answer.headers.get('retry-after')).toBe('6')
    expect(ask).toHaveBeenCalledTimes(1)
  })

  test('ends when the client disconnects', async () => {
    const leaving = new AbortController()
    const { provider, ask } = scripted({ status: 503, headers: { 'retry-after': '4' } })
    const asked = withRetries(provider, eager).send(request({ signal: leaving.signal }))
    await vi.waitFor(() => expect(ask).toHaveBeenCalledTimes(1))
    await eventLoopTick()
    leaving.abort(new Error('gone'))
    await expect(asked).rejects.toThrow('gone')
    expect(ask).toHaveBeenCalledTimes(1)
  })

  test.each([
    ['OpenAI’s quota', { error: { message: 'You exceeded your current quota.', code: 'insufficient_quota' } }, 1],
    ['a billing limit', { error: { message: 'Billing hard limit has been reached', type: 'billing' } }, 1],
    ['a rate', { error: { message: 'Rate limit reached for requests.', code: 'rate_limit_exceeded' } }, 3],
  ])('a 429 about %s is sent as often as it may help', async (_, body, times) => {
    const text = JSON.stringify(body)
    const ask = vi.fn(async () => ({
      ...{ status: 429, headers: new Headers(), isStorable: () => true },
      body: new Response(text).body as ReadableStream<Uint8Array>,
    }))
    const response = await withRetries({ name: 'p', pricedAs: null, send: ask }, eager).send(request())
    expect(await new Response(response.body).text()).toBe(text)
    expect(ask).toHaveBeenCalledTimes(times)
  })
})
