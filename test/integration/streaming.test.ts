import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { isUpstreamFailure } from '../../src/formats/chat/completeness.ts'
import { callsOf, readEvents, withoutNumbers } from '../clients/streams/read-events.ts'
import { CORPUS, type CorpusEntry } from '../fake-provider/corpus.ts'
import { type FakeProvider, startFakeProvider } from '../fake-provider/server.ts'
import { describeOnce } from '../harness/backends.ts'
import { question } from '../harness/chat.ts'
import { ask, post, readAnswer } from '../harness/client.ts'
import { propertyRuns } from '../harness/depth.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { closingEvents, type DrivenCall, eventOf, startDrivenUpstream } from './streaming/driven-upstream.ts'
import { INCOMPLETE_CASES, responseEvents } from './streaming/incomplete-cases.ts'
import { sendWithoutReading } from './streaming/raw-client.ts'

const MIB = 1024 * 1024
const REASONS = Object.keys(INCOMPLETE_CASES) as (keyof typeof INCOMPLETE_CASES)[]
/** No retries and no circuit breaker, so that each failure of the upstream is visible. */
const UNASSISTED = { UPSTREAM_MAX_RETRIES: '0', UPSTREAM_CIRCUIT_FAILURES: '1000000' }

const STREAMS = CORPUS.filter(({ stream }) => stream !== undefined).map(entry => ({
  ...entry,
  isFailure: isUpstreamFailure(entry.completeness),
}))
/** Tool calls without numbers, or with equal ones. */
const RENUMBERED = new Set(['Gemini by way of OpenAI’s format: every call numbered 0', 'Tool calls without numbers'])

interface Accounted {
  status: number
  cache_result: string | null
  prompt_tokens: number
  completion_tokens: number
}

/** Reads records and counters once everything is written. */
async function readAccounts(proxy: TestProxy): Promise<{ records: Accounted[]; counted: number }> {
  await proxy.settle()
  // A proxy of an earlier test may still write records of its project, which is deleted.
  const records = await proxy.query<Accounted>(
    `select status, cache_result, prompt_tokens, completion_tokens from usage_records
    where project_id in (select id from projects) order by recorded_at`,
  )
  const [row] = await proxy.query<{ counted: number }>(
    'select coalesce(sum(requests), 0)::integer as counted from monthly_counters',
  )
  return { records, counted: row?.counted ?? 0 }
}

describeOnce('responses as the fake provider streams them', backend => {
  let upstream: FakeProvider
  let proxy: TestProxy
  let key: string

  beforeEach(async () => {
    upstream = await startFakeProvider()
    const address = upstream.environment
    const environment = { ...address, AGGREGATOR_SPEAKS: 'responses', ...UNASSISTED }
    proxy = await startProxy({ stores: await backend.open(), environment })
    key = await proxy.createKey({ type: 'project' })
  })
  afterEach(() => Promise.all([proxy.stop(), upstream.stop()]))

  /** Sends the same question to any endpoint. */
  async function send(endpoint: 'chat' | 'messages' | 'responses', content: string, fields: object) {
    const path = endpoint === 'chat' ? '/chat/completions' : `/${endpoint}`
    const { model, messages } = question(content)
    const body = endpoint === 'responses' ? { model, input: content } : { model, messages, max_tokens: 900 }
    return readAnswer(await post(proxy, key, path, { ...(endpoint === 'chat' ? question(content) : body), ...fields }))
  }

  describe('only complete responses are stored', () => {
    test.each(REASONS)('%s', async reason => {
      const { stream, plain, endpoint = 'chat', asked: fields, isFailure, isEmpty = false } = INCOMPLETE_CASES[reason]
      const forms = [
        stream && { scenario: stream, fields: { ...fields, stream: true } },
        plain && { scenario: plain, fields: { ...fields } },
      ]
      for (const form of forms) {
        if (!form) continue
        upstream.script(form.scenario)
        const sendOnce = () => send(endpoint, `Is ${reason} ever stored?`, form.fields)
        const answers = [await sendOnce(), await sendOnce()]
        expect(answers.map(({ cache }) => cache)).toEqual(['MISS', 'MISS'])
        for (const { status, text } of answers) {
          expect(status === 200 && !text.includes('"error":{')).toBe(!isFailure)
          if (isFailure) expect(text).not.toContain('[DONE]')
        }
      }
      const count = forms.filter(form => form !== undefined).length * 2
      expect(upstream.requests).toHaveLength(count)
      const { records, counted } = await readAccounts(proxy)
      expect(records.map(record => record.cache_result)).toEqual(Array(count).fill('MISS'))
      // An empty response costs nothing, unless its provider reports usage.
      for (const record of records) expect(record.prompt_tokens > 0).toBe(!isEmpty)
      expect(counted).toBe(isFailure ? 0 : count)
    })

    test('a response truncated by the client’s limit is complete', async () => {
      upstream.script({ kind: 'answer', content: 'One two', finishReason: 'length' })
      for (const stream of [true, false]) {
        const body = question('How far?', { max_tokens: 2, stream })
        expect((await ask(proxy, key, body)).cache).toBe(stream ? 'MISS' : 'HIT')
      }
    })
  })

  /** The text that the client receives from a corpus entry's stream. */
  async function relay({ name, stream = '' }: CorpusEntry) {
    upstream.script({ kind: 'raw', parts: [stream] })
    const body = question(name, { stream: true, stream_options: { include_usage: true } })
    const response = await post(proxy, key, '/chat/completions', body, { headers: { 'cache-control': 'no-store' } })
    return { status: response.status, text: Buffer.from(await response.arrayBuffer()).toString() }
  }

  test('forwards the bytes of a response unchanged up to [DONE], which it adds if there is none', async () => {
    for (const entry of STREAMS.filter(({ name, isFailure }) => !isFailure && !RENUMBERED.has(name))) {
      const { stream = '' } = entry
      const untilDone = /^[\s\S]*?data: ?\[DONE\][ \t]*(?:(?:\r\n|\n|\r){2}|$)/.exec(stream)?.[0]
      expect(await relay(entry), entry.name).toEqual({ status: 200, text: untilDone ?? `${stream}data: [DONE]\n\n` })
    }
  })

  test('numbers the calls of a response that its client would confuse, and changes nothing else', async () => {
    const entries = STREAMS.filter(({ name }) => RENUMBERED.has(name))
    expect(entries).toHaveLength(RENUMBERED.size)
    for (const entry of entries) {
      const { text } = await relay(entry)
      const sent = readEvents(entry.stream ?? '')
      expect(withoutNumbers(readEvents(text)), entry.name).toEqual(withoutNumbers(sent))
      const numbers = new Set(
        readEvents(text)
          .flatMap(callsOf)
          .map(({ index }) => index),
      )
      expect([...numbers]).toEqual([0, 1])
    }
  })

  test('ends a failed stream with an error and without [DONE], or returns an error before its first part', async () => {
    const failed = STREAMS.filter(({ isFailure }) => isFailure)
    expect(failed.length).toBeGreaterThan(10)
    for (const entry of failed) {
      const { stream = '', name } = entry
      const { status, text } = await relay(entry)
      expect(text, name).not.toContain('[DONE]')
      if (status !== 200) expect(JSON.parse(text), name).toMatchObject({ error: { message: expect.any(String) } })
      else {
        // The last event is the provider's own error, or the proxy's error after everything that was forwarded.
        const own = text.lastIndexOf('data: {"error"')
        expect(text, name).toContain('"error":{')
        expect(stream.startsWith(text) || stream.startsWith(text.slice(0, own)), name).toBe(true)
      }
    }
  })

  test('ends a failed Responses stream with the provider’s own last event', async () => {
    const error = { code: 'server_error', message: 'It broke.' }
    upstream.script(responseEvents({ status: 'failed', error, output: [] }))
    const { status, text } = await send('responses', 'Is it over?', { stream: true })
    expect([status, text.match(/^event: .*/gm)?.at(-1)]).toEqual([200, 'event: response.failed'])
    expect(text.match(/"message":"It broke\."/g)).toHaveLength(1)
    expect(await readAccounts(proxy)).toMatchObject({ counted: 0, records: [{ status: 502 }] })
  })

  test('charges a Responses stream that is cut after the beginning of a call', async () => {
    const item = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'look_up', arguments: '' }
    const begun = [
      { type: 'response.created', response: { id: 'resp_1', object: 'response', status: 'in_progress', output: [] } },
      { type: 'response.output_item.added', output_index: 0, item },
    ]
    const parts = begun.map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    upstream.script({ kind: 'raw', parts, afterwards: 'cut' })
    const { text } = await send('responses', 'Look it up.', { stream: true })
    expect(text).toContain('event: error')
    const { records, counted } = await readAccounts(proxy)
    expect([records.map(({ status }) => status), counted]).toEqual([[502], 0])
    expect(records[0]?.prompt_tokens).toBeGreaterThan(0)
  })

  describe('a stream that breaks off', () => {
    test('is an error of the official clients, too', async () => {
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

  test('a client that disconnects in mid-stream is charged for what had arrived, and counts', async () => {
    upstream.script({ kind: 'answer', contentChars: 9_000, chunkPauseMs: 5 })
    const leaving = new AbortController()
    const response = await post(proxy, key, '/chat/completions', question('Who stays?', { stream: true }), {
      signal: leaving.signal,
    })
    const reader = response.body?.getReader()
    for (let read = 0; read < 5; read++) await reader?.read()
    leaving.abort()
    await waitUntil('the upstream call is ended', () => upstream.counts.aborted === 1)
    await waitUntil('the request is recorded', async () => (await readAccounts(proxy)).records.length > 0)
    const { records, counted } = await readAccounts(proxy)
    expect(records).toMatchObject([{ status: 499, cache_result: 'MISS' }])
    expect(records[0]?.completion_tokens).toBeGreaterThan(2)
    expect(counted).toBe(1)
    upstream.script({ kind: 'answer' })
    expect((await ask(proxy, key, question('Who stays?', { stream: true }))).cache).toBe('MISS')
  })

  const BATCHES = propertyRuns / 10
  test(`${BATCHES * 50} broken streams leave no connection, no call and no rejection behind`, async () => {
    const unpriced = { model: 'unknown/unpriced' }
    const rejections: unknown[] = []
    const note = (reason: unknown) => rejections.push(reason)
    process.on('unhandledRejection', note)
    upstream.script(({ bodyText }) => {
      const kind = Number(/number (\d+)/.exec(bodyText)?.[1]) % 3
      if (kind === 0) return { kind: 'hang', after: 'nothing' }
      return kind === 1 ? { kind: 'hang', after: 3 } : { kind: 'answer', contentChars: 9_000, chunkPauseMs: 3 }
    })
    for (let batch = 0; batch < BATCHES; batch++) {
      const leaving = new AbortController()
      const before = upstream.requests.length
      const streams = Array.from({ length: 50 }, async (_, i) => {
        const response = await post(
          proxy,
          key,
          '/chat/completions',
          // A call to a model without a price ends with its last client, because it yields no cost to settle.
          question(`This is number ${batch * 50 + i}.`, { ...unpriced, stream: true, seed: batch * 50 + i }),
          { signal: leaving.signal },
        )
        await response.text()
      })
      // The first clients leave before any upstream call is made.
      await waitUntil('some are asked', () => upstream.requests.length >= before + 3 * batch)
      leaving.abort()
      const outcomes = await Promise.allSettled(streams)
      expect(outcomes.every(outcome => outcome.status === 'rejected')).toBe(true)
    }
    await waitUntil('no upstream call is in flight', () => upstream.counts.active === 0)
    await waitUntil('connections are closed', () => upstream.openConnections <= 1)
    await proxy.settle()
    process.off('unhandledRejection', note)
    expect(rejections).toEqual([])
    expect((await ask(proxy, key, question('Still there?', { stream: true, seed: -1 }))).status).toBe(200)
  })
})

describeOnce('streams whose upstream the test controls', backend => {
  const upstream = duringTests(startDrivenUpstream)
  const proxy = duringTests(() =>
    startProxy({
      stores: backend.open(),
      environment: {
        AGGREGATOR_BASE_URL: upstream.baseUrl,
        AGGREGATOR_API_KEY: 'k',
        UPSTREAM_IDLE_TIMEOUT_MS: '2000',
        ...UNASSISTED,
      },
    }),
  )
  let key: string

  beforeAll(async () => {
    key = await proxy.createKey({ type: 'project' })
  })

  /** Sends a request. Returns a reader of the response, and the upstream call. */
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
    'each event arrives before the upstream sends the next (%o)',
    async options => {
      const { call, read } = await open('One by one?', { seed: Object.keys(options).length, ...options })
      for (let n = 0; n < 20; n++) {
        await call.say(`piece ${n} `)
        const event = await read()
        expect(event).toBe(eventOf(`piece ${n} `))
      }
      await call.send(closingEvents())
      call.end()
      expect(await readToEnd(read)).toContain('data: [DONE]\n\n')
    },
  )

  test('an event that arrives in parts is forwarded when it is complete', async () => {
    const { call, read } = await open('In parts?')
    const event = Buffer.from(eventOf('é漢👩‍👩‍👧'))
    await call.send(event.subarray(0, 90).toString('latin1'))
    const reading = read()
    // The proxy has read the first part by then, and keeps it.
    await Bun.sleep(30)
    await call.send(eventOf('x').slice(0, 0) + event.subarray(90).toString('latin1'))
    expect(await reading).toContain('data: {"id":"chatcmpl-driven"')
    await call.send(closingEvents())
    call.end()
    await readToEnd(read)
  })

  test.each([{}, { stream_options: { include_usage: true } }])(
    'one cut in the middle of an event ends with a readable error (%o)',
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
    'one that breaks off ends with an error event, and does not count (usage requested: %s)',
    async asksUsage => {
      const before = (await readAccounts(proxy)).counted
      const options = asksUsage ? { stream_options: { include_usage: true } } : {}
      const { call, read } = await open('Whole?', { ...options })
      // The pieces are read before the connection is cut: clients may lose data that arrives together with the cut.
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

  test('one that becomes silent ends with an error, and does not count', async () => {
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
    /** At least twice the capacity of two connections' kernel buffers, which grow to 32 MiB each. */
    const TOTAL = 192 * MIB
    const PIECE = eventOf('0123456789abcdef'.repeat(4_096))

    /** Sends as fast as possible, and counts the bytes that were accepted. */
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

    /** Resolves with the number of bytes accepted once it stops growing. */
    async function plateau(poured: { bytes: number }): Promise<number> {
      for (let before = -1; ; before = poured.bytes) {
        await Bun.sleep(400)
        if (poured.bytes === before) return poured.bytes
      }
    }

    test('stops the upstream, and gets everything once it reads', async () => {
      const client = await sendWithoutReading(proxy.port, key, question('Everything?', { stream: true }))
      const call = await upstream.nextCall()
      const poured = pour(call, TOTAL)
      const held = await plateau(poured)
      // Nearly all of it is in the kernel's buffers of two connections. large-bodies.slow.test.ts tests the process's memory.
      expect(held).toBeLessThan(TOTAL / 2)
      const reading = client.readAll()
      await poured.done
      await call.send(closingEvents())
      call.end()
      await reading
      expect(client.readBytes).toBeGreaterThan(poured.bytes)
      client.leave()
    })

    test('ends the upstream call when it disconnects', async () => {
      const client = await sendWithoutReading(proxy.port, key, question('Who waits?', { stream: true }))
      const call = await upstream.nextCall()
      const poured = pour(call, TOTAL)
      await plateau(poured)
      client.leave()
      // With full buffers, the server notices a disconnect later than with a reading client.
      await waitUntil('the upstream call is closed', () => call.isClosed)
      await poured.done
    })
  })
})
