import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type CircuitBreakers, createCircuitBreakers } from '../../../src/providers/circuit-breakers.ts'
import type { Provider, UpstreamRequest, UpstreamResponse } from '../../../src/providers/upstream.ts'
import { connectTimeoutError, responseTimeoutError } from '../../../src/providers/upstream-failure.ts'

const request: UpstreamRequest = {
  endpoint: 'chat',
  bodyText: '{}',
  body: { model: 'm' },
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
  circuits = createCircuitBreakers({
    ...{ failures: 3, openMs: 4_000, log },
    isPublicModel: (_, model) => model !== 'private',
  })
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
      { provider: 'p', owner: 'project 1', model: 'm', waitMs: 4_000 },
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

  test('stays closed through short bursts of failures', async () => {
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
    expect(log.info).toHaveBeenCalledWith({ provider: 'p', owner: 'project 1', model: 'm' }, 'circuit closed')
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

/** Sends a request for the model, and returns its status. */
async function sendTo(model: string, more: Partial<UpstreamRequest> = {}): Promise<number> {
  const sent = provider.send({ ...request, ...more, body: { model } })
  return sent.then(({ status }) => status).catch(({ status }) => status)
}

async function openModel(model: string): Promise<void> {
  answer = give(500)
  for (let i = 0; i < 3; i++) {
    await sendTo(model)
    if (i === 1) vi.advanceTimersByTime(2_000)
  }
}

describe('a client’s own limit', () => {
  /** Sends requests that wait for one second, over the duration after which failures open the circuit. */
  async function sendWithLimit(firstTokenMs: number, clientMs: number | null): Promise<string | undefined> {
    const unlimited = { idleMs: Number.POSITIVE_INFINITY, responseMs: Number.POSITIVE_INFINITY }
    const limited = { ...request, timeLimits: { ...unlimited, firstTokenMs, clientMs } }
    answer = async () => {
      throw responseTimeoutError('p', 'first token', firstTokenMs, true)
    }
    for (let i = 0; i < 4; i++) {
      await provider.send(limited).catch(() => {})
      vi.advanceTimersByTime(2_000)
    }
    return circuits.summarize().p?.status
  }

  test('does not open the circuit when the response exceeds it', async () => {
    expect(await sendWithLimit(1_000, 1_000)).toBe('up')
  })

  test.each([null, 5_000])(
    'opens it when the response exceeds the project’s limit, and the client’s is %j',
    async clientMs => {
      expect(await sendWithLimit(1_000, clientMs)).toBe('down')
    },
  )
})

describe('a circuit that judges by a share', () => {
  /** Sends one request each 100 ms. `succeeds` gets the request's number. */
  async function sendFor(ms: number, succeeds: (at: number) => boolean): Promise<void> {
    for (let at = 0; at < ms / 100; at++) {
      answer = succeeds(at) ? give(200) : fail
      await sendTo('m')
      vi.advanceTimersByTime(100)
    }
  }

  test('opens when most requests of the window fail', async () => {
    await sendFor(4_000, at => at % 4 === 0)
    expect(calls).toBeLessThan(35)
    expect(circuits.summarize().p?.openCircuits).toBe(1)
  })

  test('stays closed when half of them do', async () => {
    await sendFor(20_000, at => at % 2 === 0)
    expect(calls).toBe(200)
  })

  test('forgets what is older than the window', async () => {
    for (let i = 0; i < 10; i++) {
      await sendFor(300, () => false)
      await sendFor(100, () => true)
      vi.advanceTimersByTime(30_000)
    }
    expect(calls).toBe(40)
  })
})

describe('a stream', () => {
  /** The end of each stream. */
  let ends: ((outcome: 'well' | 'failed' | 'unknown') => void)[]
  beforeEach(() => {
    ends = []
    answer = async () => {
      const stream = {
        set onEnd(end: (typeof ends)[number]) {
          ends.push(end)
        },
      }
      return { ...(await give(200)()), stream } as unknown as UpstreamResponse
    }
  })

  async function sendStream(outcome: 'well' | 'failed' | 'unknown'): Promise<void> {
    await sendTo('m')
    ends.pop()?.(outcome)
  }

  test('is judged at its end', async () => {
    await sendStream('failed')
    await sendStream('failed')
    vi.advanceTimersByTime(2_000)
    await sendTo('m')
    expect(circuits.summarize()).toMatchObject({ p: { status: 'up' } })
    ends.pop()?.('failed')
    expect(await sendTo('m')).toBe(503)
    expect(calls).toBe(3)
  })

  test('as a trial closes the circuit at its beginning; if it is cut, the circuit opens for longer', async () => {
    await sendStream('failed')
    await sendStream('failed')
    vi.advanceTimersByTime(2_000)
    await sendStream('failed')
    vi.advanceTimersByTime(4_000)
    expect([await sendTo('m'), await sendTo('m')]).toEqual([200, 200])
    ends.shift()?.('failed')
    vi.advanceTimersByTime(7_999)
    expect([await sendTo('m'), calls]).toEqual([503, 5])
    vi.advanceTimersByTime(1)
    await sendStream('well')
    // The circuit has closed for good: one failure does not open it.
    await sendStream('failed')
    expect([await sendTo('m'), calls]).toEqual([200, 8])
  })

  test('that ended after the circuit had opened does not count', async () => {
    await sendTo('m')
    const early = ends.pop()
    await sendStream('failed')
    await sendStream('failed')
    vi.advanceTimersByTime(2_000)
    await sendStream('failed')
    vi.advanceTimersByTime(4_000)
    await sendTo('m')
    early?.('failed')
    expect([await sendTo('m'), calls]).toEqual([200, 6])
  })
})

describe('models of one key', () => {
  test('have circuits of their own', async () => {
    await openModel('a')
    answer = give(200)
    for (let i = 0; i < 20; i++) expect([await sendTo('a'), await sendTo('b')]).toEqual([503, 200])
    expect(calls).toBe(23)
    expect(circuits.summarize()).toEqual({ p: { status: 'partial', openCircuits: 1, openModels: ['a'] } })
    await openModel('private')
    expect(circuits.summarize()).toEqual({ p: { status: 'partial', openCircuits: 2, openModels: ['a'] } })
  })

  test('open the circuit of the key when several fail and none responds', async () => {
    for (const model of ['a', 'b', 'c']) await openModel(model)
    expect(calls).toBe(9)
    answer = give(200)
    expect(await sendTo('d')).toBe(503)
    expect(circuits.summarize()).toEqual({ p: { status: 'down', openCircuits: 4 } })
    vi.advanceTimersByTime(4_000)
    expect([await sendTo('d'), await sendTo('e')]).toEqual([200, 200])
    expect(circuits.summarize()).toMatchObject({ p: { status: 'partial' } })
  })

  test('leave the circuit of the key closed while another one responds', async () => {
    for (const model of ['a', 'b', 'c', 'd']) {
      await openModel(model)
      answer = give(200)
      expect(await sendTo('well')).toBe(200)
    }
  })

  test('that failed before do not keep the others waiting', async () => {
    for (const model of ['a', 'b', 'c']) await openModel(model)
    vi.advanceTimersByTime(4_000)
    await sendTo('a')
    vi.advanceTimersByTime(1_000)
    answer = give(200)
    expect(await sendTo('d')).toBe(200)
  })

  test('are all left alone when nothing connects', async () => {
    answer = async () => {
      throw connectTimeoutError('p', 1)
    }
    for (const model of ['a', 'b']) await sendTo(model)
    vi.advanceTimersByTime(2_000)
    await sendTo('c')
    expect([await sendTo('d'), calls]).toEqual([503, 3])
    expect(circuits.summarize()).toEqual({ p: { status: 'down', openCircuits: 1 } })
  })

  test('are remembered in a bounded number', async () => {
    answer = give(500)
    for (let i = 0; i < 1_000; i++) await sendTo(`m${i}`)
    await openModel('a')
    answer = give(200)
    expect(await sendTo('a')).toBe(503)
  })
})

describe('a request with a fallback', () => {
  const withFallback = { trial: 'beside' } as const
  const trialOf = () => provider.send({ ...request, ...withFallback }).catch(error => error.isTrialDue)

  test('is no trial, and says when one is due', async () => {
    answer = fail
    await openCircuitOf(provider)
    expect(await trialOf()).toBe(false)
    vi.advanceTimersByTime(4_000)
    expect([await trialOf(), await trialOf(), calls]).toEqual([true, true, 3])
    await askTimes(provider, 1)
    expect([await trialOf(), calls]).toEqual([false, 4])
  })

  test('calls for a trial after 15 s at the latest', async () => {
    answer = fail
    await openCircuitOf(provider)
    for (const seconds of [4, 8, 15, 15, 15]) {
      vi.advanceTimersByTime(seconds * 1_000 - 1)
      expect(await trialOf()).toBe(false)
      vi.advanceTimersByTime(1)
      expect(await trialOf()).toBe(true)
      if (seconds === 15) expect(await sendTo('m')).toBe(503)
      expect(await sendTo('m', { trial: 'itself' })).toBe(504)
    }
  })
})

describe('a model whose rate is limited', () => {
  const limit = (headers: Record<string, string>) => async () => ({
    ...(await give(429)()),
    headers: new Headers(headers),
  })

  test('gets no request until the time that the provider states', async () => {
    answer = limit({ 'retry-after': '1800' })
    expect(await sendTo('m')).toBe(429)
    answer = give(200)
    vi.advanceTimersByTime(1_000_000)
    await expect(provider.send(request)).rejects.toMatchObject({
      ...{ status: 429, code: 'rate_limit_exceeded', failureKind: 'resting', headers: { 'retry-after': '800' } },
    })
    expect([await sendTo('other'), calls]).toEqual([200, 2])
    vi.advanceTimersByTime(800_000)
    expect([await sendTo('m'), calls]).toEqual([200, 3])
  })

  test('rests for an hour at most', async () => {
    answer = limit({ 'retry-after': '999999' })
    await sendTo('m')
    vi.advanceTimersByTime(3_600_000)
    await sendTo('m')
    expect(calls).toBe(2)
  })

  test.each([{ 'retry-after': '30' }, {}])('is called again if the wait is short or unknown: %o', async headers => {
    answer = limit(headers)
    await sendTo('m')
    await sendTo('m')
    expect(calls).toBe(2)
  })

  test('rests until its limit is reset', async () => {
    answer = limit({ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '6m0s' })
    await sendTo('m')
    vi.advanceTimersByTime(359_000)
    expect([await sendTo('m'), calls]).toEqual([429, 1])
    vi.advanceTimersByTime(1_000)
    await sendTo('m')
    expect(calls).toBe(2)
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
