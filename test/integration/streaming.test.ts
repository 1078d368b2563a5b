import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { question } from '../harness/chat.ts'
import { ask, post } from '../harness/client.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { CORPUS } from '../standin/corpus.ts'
import { type Standin, startStandin } from '../standin/server.ts'
import {
  closingEvents,
  type DrivenCall,
  type DrivenUpstream,
  eventOf,
  startDrivenUpstream,
} from './streaming/driven-upstream.ts'
import { INCOMPLETE_CASES } from './streaming/incomplete-cases.ts'
import { askUnread } from './streaming/raw-client.ts'

const MIB = 1024 * 1024
const REASONS = Object.keys(INCOMPLETE_CASES) as (keyof typeof INCOMPLETE_CASES)[]
/** No help for upstream: each of its failures is to be seen. */
const UNASSISTED = { UPSTREAM_MAX_RETRIES: '0', UPSTREAM_CIRCUIT_FAILURES: '1000000' }

interface Accounted {
  status: number
  cache_result: string | null
  prompt_tokens: number
  completion_tokens: number
}

/** What records and counters say, once all of it is written. */
async function readAccounts(proxy: TestProxy): Promise<{ records: Accounted[]; counted: number }> {
  await proxy.settle()
  const records = await proxy.query<Accounted>(
    'select status, cache_result, prompt_tokens, completion_tokens from usage_records order by recorded_at',
  )
  const [row] = await proxy.query<{ counted: number }>(
    'select coalesce(sum(requests), 0)::integer as counted from monthly_counters',
  )
  return { records, counted: row?.counted ?? 0 }
}

describeOnce('answers as the stand-in upstream streams them', backend => {
  let upstream: Standin
  let proxy: TestProxy
  let key: string

  beforeEach(async () => {
    upstream = await startStandin()
    const environment = { AGGREGATOR_BASE_URL: upstream.baseUrl, AGGREGATOR_API_KEY: 'k', ...UNASSISTED }
    proxy = await startProxy({ stores: await backend.open(), environment })
    key = await proxy.createKey({ type: 'project' })
  })
  afterEach(() => Promise.all([proxy.stop(), upstream.stop()]))

  describe('only whole answers are stored', () => {
    test.each(REASONS)('%s', async reason => {
      const { stream, plain, asked: fields, isFailure, isEmpty = false } = INCOMPLETE_CASES[reason]
      const forms = [
        stream && { scenario: stream, fields: { ...fields, stream: true } },
        plain && { scenario: plain, fields: { ...fields } },
      ]
      for (const form of forms) {
        if (!form) continue
        upstream.script(form.scenario)
        const asked = question(`Is ${reason} ever stored?`, form.fields)
        const caches = [(await ask(proxy, key, asked)).cache, (await ask(proxy, key, asked)).cache]
        expect(caches).toEqual(['MISS', 'MISS'])
      }
      const asked = forms.filter(form => form !== undefined).length * 2
      expect(upstream.requests).toHaveLength(asked)
      const { records, counted } = await readAccounts(proxy)
      expect(records.map(record => record.cache_result)).toEqual(Array(asked).fill('MISS'))
      // What is no response costs nothing, unless its provider says so.
      for (const record of records) expect(record.prompt_tokens > 0).toBe(!isEmpty)
      expect(counted).toBe(isFailure ? 0 : asked)
    })

    test('cut where the client wanted it, an answer is whole', async () => {
      upstream.script({ kind: 'answer', content: 'One two', finishReason: 'length' })
      for (const stream of [true, false]) {
        const asked = question('How far?', { max_tokens: 2, stream })
        expect((await ask(proxy, key, asked)).cache).toBe(stream ? 'MISS' : 'HIT')
      }
    })
  })

  test('bytes pass unchanged, whatever their upstream’s accent', async () => {
    for (const { name, stream = '' } of CORPUS) {
      upstream.script({ kind: 'raw', parts: [stream] })
      const body = question(name, { stream: true, stream_options: { include_usage: true } })
      const response = await post(proxy, key, '/chat/completions', body, { headers: { 'cache-control': 'no-store' } })
      expect(Buffer.from(await response.arrayBuffer()).toString(), name).toBe(stream)
    }
  })

  describe('a stream that breaks off', () => {
    test('is the official clients’ error too', async () => {
      upstream.script({ kind: 'cut', after: 4 })
      const { clientOf } = await import('../clients/streams/openai-reader.ts')
      const client = clientOf({ baseURL: proxy.baseUrl, apiKey: key, fetch })
      const stream = client.chat.completions.stream({
        model: 'openai/gpt-4o-mini',
        messages: [{ role: 'user', content: 'x' }],
      })
      await expect(stream.finalChatCompletion()).rejects.toThrow('broke off')
    })
  })

  test('a client that leaves in mid-stream is accounted for with what had come, and counts', async () => {
    upstream.script({ kind: 'answer', contentChars: 9_000, chunkPauseMs: 5 })
    const leaving = new AbortController()
    const response = await post(proxy, key, '/chat/completions', question('Who stays?', { stream: true }), {
      signal: leaving.signal,
    })
    const reader = response.body?.getReader()
    for (let read = 0; read < 5; read++) await reader?.read()
    leaving.abort()
    await waitUntil('the upstream call is ended', () => upstream.counts.aborted === 1)
    await waitUntil('it is recorded', async () => (await readAccounts(proxy)).records.length > 0)
    const { records, counted } = await readAccounts(proxy)
    expect(records).toMatchObject([{ status: 499, cache_result: 'MISS' }])
    expect(records[0]?.completion_tokens).toBeGreaterThan(2)
    expect(counted).toBe(1)
    upstream.script({ kind: 'answer' })
    expect((await ask(proxy, key, question('Who stays?', { stream: true }))).cache).toBe('MISS')
  })

  test('500 streams that are broken off leave no connection, no call and no rejection behind', async () => {
    const rejections: unknown[] = []
    const note = (reason: unknown) => rejections.push(reason)
    process.on('unhandledRejection', note)
    upstream.script(({ bodyText }) => {
      const kind = Number(/number (\d+)/.exec(bodyText)?.[1]) % 3
      if (kind === 0) return { kind: 'hang', after: 'nothing' }
      return kind === 1 ? { kind: 'hang', after: 3 } : { kind: 'answer', contentChars: 9_000, chunkPauseMs: 3 }
    })
    for (let batch = 0; batch < 10; batch++) {
      const leaving = new AbortController()
      const streams = Array.from({ length: 50 }, async (_, i) => {
        const response = await post(
          proxy,
          key,
          '/chat/completions',
          question(`This is number ${batch * 50 + i}.`, { stream: true, seed: batch * 50 + i }),
          { signal: leaving.signal },
        )
        await response.text()
      })
      // The first ones leave before any call upstream was made.
      setTimeout(() => leaving.abort(), batch * 12)
      const outcomes = await Promise.allSettled(streams)
      expect(outcomes.every(outcome => outcome.status === 'rejected')).toBe(true)
    }
    await waitUntil('no upstream call is left', () => upstream.counts.active === 0)
    await waitUntil('connections are closed', () => upstream.openConnections <= 1)
    await proxy.settle()
    process.off('unhandledRejection', note)
    expect(rejections).toEqual([])
    expect((await ask(proxy, key, question('Still there?', { stream: true, seed: -1 }))).status).toBe(200)
  })
})

describeOnce('streams whose upstream the test drives by hand', backend => {
  let upstream: DrivenUpstream
  let proxy: TestProxy
  let key: string

  beforeAll(async () => {
    upstream = await startDrivenUpstream()
    const environment = {
      AGGREGATOR_BASE_URL: upstream.baseUrl,
      AGGREGATOR_API_KEY: 'k',
      UPSTREAM_IDLE_TIMEOUT_MS: '2000',
      ...UNASSISTED,
    }
    proxy = await startProxy({ stores: await backend.open(), environment })
    key = await proxy.createKey({ type: 'project' })
  })
  afterAll(() => Promise.all([proxy.stop(), upstream.stop()]))

  /** Asks; returns what reads the answer, and the upstream call behind it. */
  async function open(content: string, fields: Record<string, unknown> = {}) {
    const responding = post(proxy, key, '/chat/completions', question(content, { stream: true, ...fields }))
    const call = await upstream.nextCall()
    const decoder = new TextDecoder()
    let reader: { read(): Promise<{ done: boolean; value?: Uint8Array }> } | undefined
    const read = async () => {
      reader ??= (await responding).body?.getReader()
      const part = await reader?.read()
      return part?.value ? decoder.decode(part.value) : ''
    }
    return { call, read }
  }

  async function readToEnd(read: () => Promise<string>): Promise<string> {
    let text = ''
    for (let part = await read(); part !== ''; part = await read()) text += part
    return text
  }

  test.each([{}, { stream_options: { include_usage: true } }])(
    'each event is there before upstream sends the next (%o)',
    async options => {
      const { call, read } = await open('One by one?', { seed: Object.keys(options).length, ...options })
      for (let n = 0; n < 20; n++) {
        await call.say(`piece ${n} `)
        const heard = await read()
        expect(heard).toBe(eventOf(`piece ${n} `))
      }
      await call.send(closingEvents())
      call.end()
      expect(await readToEnd(read)).toContain('data: [DONE]\n\n')
    },
  )

  test('an event that arrives in parts passes when it is complete', async () => {
    const { call, read } = await open('In parts?')
    const event = Buffer.from(eventOf('é漢👩‍👩‍👧'))
    await call.send(event.subarray(0, 90).toString('latin1'))
    const heard = read()
    await Bun.sleep(30)
    await call.send(eventOf('x').slice(0, 0) + event.subarray(90).toString('latin1'))
    expect(await heard).toContain('data: {"id":"chatcmpl-driven"')
    await call.send(closingEvents())
    call.end()
    await readToEnd(read)
  })

  test.each([{}, { stream_options: { include_usage: true } }])(
    'one cut in the middle of an event ends with an error that can be read (%o)',
    async options => {
      const { call, read } = await open('Cut inside?', { seed: Object.keys(options).length, ...options })
      await call.say('Half')
      expect(await read()).toBe(eventOf('Half'))
      await call.send(eventOf(' of it').slice(0, 40))
      await call.cut()
      const events = (await readToEnd(read)).trimEnd().split('\n\n')
      expect(events).toHaveLength(1)
      expect(JSON.parse(events[0]?.slice(6) ?? '')).toMatchObject({ error: { code: 'upstream_error' } })
    },
  )

  test.each([true, false])(
    'one that breaks off ends with an error event, and costs no request (usage asked for: %s)',
    async asksUsage => {
      const before = (await readAccounts(proxy)).counted
      const options = asksUsage ? { stream_options: { include_usage: true } } : {}
      const { call, read } = await open('Whole?', { ...options })
      // Read before it is cut: of what comes together with the cut, clients may forget a part.
      for (const piece of ['Not ', 'all ', 'of ', 'it ']) {
        await call.say(piece)
        expect(await read()).toBe(eventOf(piece))
      }
      await call.cut()
      const events = (await readToEnd(read)).trimEnd().split('\n\n')
      expect(events).toHaveLength(1)
      expect(JSON.parse(events[0]?.replace('data: ', '') ?? '')).toEqual({
        error: {
          message: expect.stringContaining('broke off'),
          type: 'api_error',
          param: null,
          code: 'upstream_error',
        },
      })
      const { records, counted } = await readAccounts(proxy)
      expect(records.at(-1)).toMatchObject({ status: 502, cache_result: 'MISS' })
      expect(records.at(-1)?.prompt_tokens).toBeGreaterThan(0)
      expect(records.at(-1)?.completion_tokens).toBeGreaterThan(0)
      expect(counted).toBe(before)
    },
  )

  test('one that falls silent ends with an error, and costs no request', async () => {
    const before = (await readAccounts(proxy)).counted
    const { call, read } = await open('Still there?')
    await call.say('Wait')
    const events = (await readToEnd(read)).trimEnd().split('\n\n')
    expect(JSON.parse(events.at(-1)?.slice(6) ?? '')).toMatchObject({ error: { code: 'upstream_timeout' } })
    await waitUntil('the upstream call is closed', () => call.isClosed)
    const { records, counted } = await readAccounts(proxy)
    expect(records.at(-1)).toMatchObject({ status: 504, cache_result: 'MISS' })
    expect(counted).toBe(before)
  })

  describe('a client that does not read', () => {
    /** Twice and more of what two connections' buffers in the kernel can take, which grow to 32 MiB each. */
    const TOTAL = 192 * MIB
    const PIECE = eventOf('0123456789abcdef'.repeat(4_096))

    /** Sends as fast as there is room; tells how much of it was taken. */
    function pour(call: DrivenCall, total: number) {
      const poured = { bytes: 0, done: Promise.resolve() }
      const run = async () => {
        while (poured.bytes < total && !call.isClosed) {
          await call.send(PIECE)
          poured.bytes += PIECE.length
        }
      }
      poured.done = run()
      return poured
    }

    /** Resolves with what was taken once no more of it is. */
    async function plateau(poured: { bytes: number }): Promise<number> {
      for (let before = -1; ; before = poured.bytes) {
        await Bun.sleep(400)
        if (poured.bytes === before) return poured.bytes
      }
    }

    test('stops upstream, and gets everything once it reads', async () => {
      const client = await askUnread(proxy.port, key, question('Everything?', { stream: true }))
      const call = await upstream.nextCall()
      const poured = pour(call, TOTAL)
      const held = await plateau(poured)
      // Nearly all of that is in the kernel's own buffers, of two connections; see large-bodies.test.ts for the process's memory.
      expect(held).toBeLessThan(TOTAL / 2)
      const reading = client.readAll()
      await poured.done
      await call.send(closingEvents())
      call.end()
      await reading
      expect(client.readBytes).toBeGreaterThan(poured.bytes)
      client.leave()
    })

    test('ends the upstream call when it leaves', async () => {
      const client = await askUnread(proxy.port, key, question('Who waits?', { stream: true }))
      const call = await upstream.nextCall()
      const poured = pour(call, TOTAL)
      await plateau(poured)
      client.leave()
      // Behind full buffers, the server hears of it later than of a reading client's leaving.
      await waitUntil('the upstream call is closed', () => call.isClosed)
      await poured.done
    })
  })
})
