import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type CircuitBreakers, createCircuitBreakers } from '../../../src/providers/circuit-breakers.ts'
import type { Provider, UpstreamRequest, UpstreamResponse } from '../../../src/providers/upstream.ts'
import { responseTimeoutError } from '../../../src/providers/upstream-failure.ts'

const request: UpstreamRequest = {
  endpoint: 'chat',
  bodyText: '{}',
  body: {},
  headers: new Headers(),
  stream: false,
  signal: new AbortController().signal,
}

const log = { warn: vi.fn(), info: vi.fn() }
let circuits: CircuitBreakers
/** The current behaviour of the upstream. */
let answer: () => Promise<UpstreamResponse>
let calls: number
let provider: Provider

const give = (status: number) => async () => ({
  status,
  headers: new Headers(),
  body: new ReadableStream(),
  isStorable: () => true,
})
const fail = async () => {
  throw responseTimeoutError('p', 'first byte', 1)
}
async function askTimes(asked: Provider, times: number): Promise<void> {
  for (let i = 0; i < times; i++) await asked.send(request).catch(() => {})
}
/** Opens the circuit with three failures in a row. The last one comes after the minimum duration of failures. */
async function openCircuitOf(asked: Provider): Promise<void> {
  await askTimes(asked, 2)
  vi.advanceTimersByTime(2_000)
  await askTimes(asked, 1)
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
  log.warn.mockClear()
  log.info.mockClear()
  circuits = createCircuitBreakers({ failures: 3, openMs: 4_000, log })
  calls = 0
  const ask = () => {
    calls++
    return answer()
  }
  provider = circuits.protect({ name: 'p', pricedAs: 'p', send: ask }, 1)
})
afterEach(() => {
  vi.useRealTimers()
})

describe('a circuit', () => {
  test('calls the provider as long as it responds', async () => {
    answer = give(200)
    expect(await provider.send(request)).toMatchObject({ status: 200 })
    expect(provider).toMatchObject({ name: 'p', pricedAs: 'p' })
    expect(circuits.summarize()).toEqual({ p: { status: 'up', openCircuits: 0 } })
  })

  test.each([
    ['an unreachable upstream', fail],
    ['server errors', give(503)],
    ['an overloaded upstream', give(529)],
  ])('opens after consecutive failures: %s', async (_, failing) => {
    answer = failing
    await openCircuitOf(provider)
    expect(calls).toBe(3)
    await expect(provider.send(request)).rejects.toMatchObject({
      status: 503,
      code: 'service_unavailable',
      headers: { 'retry-after': '4' },
      message: 'Upstream p has been failing and gets no requests for now; try again in 4 s.',
    })
    expect(calls).toBe(3)
    expect(circuits.summarize()).toEqual({ p: { status: 'down', openCircuits: 1 } })
    expect(log.warn).toHaveBeenCalledExactlyOnceWith(
      { provider: 'p', owner: 'project 1', waitMs: 4_000 },
      'circuit opened',
    )
  })

  test.each([
    ['rejected requests', give(400)],
    ['a rejected key', give(401)],
    ['rate limits', give(429)],
    ['clients that disconnect', () => Promise.reject(new Error('gone'))],
  ])('stays closed through %s', async (_, refusing) => {
    answer = refusing
    await askTimes(provider, 10)
    expect(calls).toBe(10)
  })

  test('counts only consecutive failures', async () => {
    for (let i = 0; i < 5; i++) {
      answer = fail
      await askTimes(provider, 2)
      answer = give(200)
      await askTimes(provider, 1)
    }
    expect(calls).toBe(15)
  })

  test('stays closed through a burst: many simultaneous failures may precede the first success', async () => {
    answer = fail
    await askTimes(provider, 50)
    vi.advanceTimersByTime(1_900)
    await askTimes(provider, 50)
    answer = give(200)
    await askTimes(provider, 1)
    vi.advanceTimersByTime(10_000)
    answer = fail
    await askTimes(provider, 50)
    expect(calls).toBe(151)
  })

  test('closes when a trial succeeds', async () => {
    answer = fail
    await openCircuitOf(provider)
    vi.advanceTimersByTime(3_000)
    await expect(provider.send(request)).rejects.toMatchObject({ headers: { 'retry-after': '1' } })
    vi.advanceTimersByTime(1_000)
    answer = give(200)
    await askTimes(provider, 5)
    expect(calls).toBe(8)
    expect(log.info).toHaveBeenCalledWith({ provider: 'p', owner: 'project 1' }, 'circuit closed')
  })

  test('stays open twice as long after each failed trial, up to a minute', async () => {
    answer = fail
    await openCircuitOf(provider)
    const waits: number[] = []
    for (let trial = 0; trial < 6; trial++) {
      const { headers } = await provider.send(request).catch(error => error)
      waits.push(Number(headers['retry-after']))
      vi.advanceTimersByTime((waits.at(-1) ?? 0) * 1_000)
      await askTimes(provider, 1)
    }
    expect(waits).toEqual([4, 8, 16, 32, 60, 60])
  })

  test('lets one request try, and others not wait for it', async () => {
    answer = fail
    await openCircuitOf(provider)
    vi.advanceTimersByTime(4_000)
    const hanging = Promise.withResolvers<UpstreamResponse>()
    answer = () => hanging.promise
    const trial = provider.send(request)
    for (let i = 0; i < 5; i++) await expect(provider.send(request)).rejects.toMatchObject({ status: 503 })
    expect(calls).toBe(4)
    hanging.resolve(await give(200)())
    expect(await trial).toMatchObject({ status: 200 })
    answer = give(200)
    await askTimes(provider, 2)
    expect(calls).toBe(6)
  })

  test('stays open when the client of the trial disconnects', async () => {
    answer = fail
    await openCircuitOf(provider)
    vi.advanceTimersByTime(4_000)
    answer = () => Promise.reject(new Error('gone'))
    await askTimes(provider, 3)
    expect(calls).toBe(4)
  })
})

describe('circuits', () => {
  test('are independent: one owner’s failures do not affect others', async () => {
    const other = circuits.protect({ name: 'p', pricedAs: 'p', send: give(200) }, 2)
    answer = fail
    await openCircuitOf(provider)
    expect(await other.send(request)).toMatchObject({ status: 200 })
    expect(circuits.summarize()).toEqual({ p: { status: 'partial', openCircuits: 1 } })
  })

  test('start closed with a new key', async () => {
    answer = fail
    await openCircuitOf(provider)
    circuits.protect({ name: 'p', pricedAs: 'p', send: give(200) }, 1)
    expect(circuits.summarize()).toEqual({ p: { status: 'up', openCircuits: 0 } })
  })
})
