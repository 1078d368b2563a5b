/**
 * The sixteen scenarios of the public board failoverbench, at three endpoints, plain and streamed: a provider fails in one way, and a fallback is
 * well. The client gets one whole response of one model or an honest error, the usage is charged once, and the list of attempts is true. Streams
 * of scenarios 8, 9, 10 and 14 are rescued only where they are delivered whole.
 */
import { beforeAll, describe, expect, test } from 'vitest'
import type { FailureKind } from '../../src/providers/failure-kind.ts'
import type { RecordedRequest } from '../fake-provider/recording.ts'
import type { JsonObject, Scenario } from '../fake-provider/scenario.ts'
import { describeOnce } from '../harness/backends.ts'
import { post } from '../harness/client.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import type { Mode } from '../harness/outcomes/outcome.ts'
import { readOutcome } from '../harness/outcomes/read-outcome.ts'
import { type FixedPathEndpoint, PATHS, writeRequest } from '../harness/provider-cases/requests.ts'
import { startProxy } from '../harness/proxy.ts'
import { readProxyStatus } from '../harness/read-proxy-status.ts'
import { waitUntil } from '../harness/wait-until.ts'

const ENDPOINTS: readonly FixedPathEndpoint[] = ['chat', 'responses', 'messages']
/** whole: a stream that is held until it is complete. */
type Delivery = Mode | 'whole'
const DELIVERIES: readonly Delivery[] = ['plain', 'streamed', 'whole']
const PRIMARY = 'gpt-4o-mini'
const FALLBACK = 'openai/gpt-4o'
const words = (model: string) => Array.from({ length: 60 }, (_, at) => `${model}-${at}`).join(' ')
/** The text of each model. No part of one is a part of the other. */
const TEXTS = { primary: words('first'), fallback: words('second') }
/** Chunks before a failure in the middle of a response. Fewer are sent before its first word at each endpoint. */
const MIDDLE = 40
const RETRY_AFTER_MS = 40
/** The primary's time limits where it is silent. The fallback has none. */
const SILENCE_MS = 300
const LIMITS = Object.fromEntries(
  ['first_token_timeout_ms', 'idle_timeout_ms', 'response_timeout_ms'].map(name => [name, `${PRIMARY}=${SILENCE_MS}`]),
)

const WELL: Scenario = { kind: 'answer', content: TEXTS.primary }
const error = (status: number, fields: object = {}): Scenario => ({ kind: 'error', status, ...fields })

interface Expected {
  /** The model whose whole response the client gets; null for an error. */
  by: keyof typeof TEXTS | null
  /** The kind of each attempt; null for the one that succeeded. */
  attempts: readonly (FailureKind | null)[]
}

interface Row {
  title: string
  /** The primary's reaction to its first call, its second, and so on. */
  primary(call: number): Scenario
  plain: Expected
  streamed: Expected
  /** If the stream has begun when it fails, only a stream that is held until it is complete can be rescued. By default as `streamed`. */
  whole?: Expected
  /** Whether the failed attempts may be charged, because the provider received the request and did not reject it. */
  mayCharge?: boolean
  settings?: Record<string, string>
}

const same = (expected: Expected) => ({ plain: expected, streamed: expected })
const rescued = (...failed: FailureKind[]): Expected => ({ by: 'fallback', attempts: [...failed, null] })
const retried = (...failed: FailureKind[]): Expected => ({ by: 'primary', attempts: [...failed, null] })
const failed = (...attempts: FailureKind[]): Expected => ({ by: null, attempts })
const firstly = (scenario: Scenario) => (call: number) => (call === 1 ? scenario : WELL)
const always = (scenario: Scenario) => () => scenario

const CUT: Omit<Row, 'title'> = {
  primary: always({ kind: 'cut', after: MIDDLE, content: TEXTS.primary }),
  plain: rescued('truncated'),
  streamed: failed('truncated'),
  whole: rescued('truncated'),
  mayCharge: true,
}

const ROWS: readonly Row[] = [
  {
    title: '1: rate limited with Retry-After, once',
    primary: firstly(error(429, { headers: { 'retry-after-ms': `${RETRY_AFTER_MS}` } })),
    ...same(retried('rate_limited')),
  },
  {
    title: '2: rate limited without Retry-After, each time',
    primary: always(error(429)),
    ...same(rescued('rate_limited', 'rate_limited', 'rate_limited')),
  },
  { title: '3: 500, once', primary: firstly(error(500)), ...same(retried('server_error')) },
  {
    title: '4: 503, each time',
    primary: always(error(503)),
    ...same(rescued('overloaded', 'overloaded', 'overloaded')),
  },
  {
    title: '5: connection reset before the headers, once',
    primary: firstly({ kind: 'cut', after: 'nothing' }),
    ...same(retried('connection_reset')),
  },
  {
    title: '6: no response',
    primary: always({ kind: 'hang', after: 'nothing' }),
    plain: rescued('response_timeout'),
    streamed: rescued('first_token_timeout'),
    mayCharge: true,
    settings: LIMITS,
  },
  {
    title: '7: slow first token',
    primary: always({ kind: 'hang', after: 0 }),
    plain: rescued('response_timeout'),
    streamed: rescued('first_token_timeout'),
    mayCharge: true,
    settings: LIMITS,
  },
  { title: '8: cut in the middle', ...CUT },
  {
    title: '9: stall in the middle',
    primary: always({ kind: 'hang', after: MIDDLE, content: TEXTS.primary }),
    plain: rescued('response_timeout'),
    streamed: failed('idle_timeout'),
    whole: rescued('idle_timeout'),
    mayCharge: true,
    settings: LIMITS,
  },
  {
    title: '10: malformed chunk',
    primary: always({ ...WELL, malformedEventAt: MIDDLE } as Scenario),
    plain: { by: 'primary', attempts: [null] },
    streamed: failed('malformed'),
    whole: rescued('malformed'),
  },
  {
    title: '11: stream without [DONE]',
    primary: always({ ...WELL, withoutDone: true } as Scenario),
    ...same({ by: 'primary', attempts: [null] }),
  },
  {
    title: '12: context length exceeded',
    primary: always(error(400, { code: 'context_length_exceeded', message: 'Too many tokens.' })),
    ...same(rescued('context_length')),
  },
  {
    title: '13: content filter',
    primary: always(error(400, { code: 'content_policy_violation', message: 'Rejected by the safety system.' })),
    ...same(failed('content_filter')),
  },
  // The fallback rejects a conversation that ends with the primary's words, as in each of these tests.
  { title: '14: cut, and a fallback that cannot continue another model’s text', ...CUT },
  // The fifteenth is a sequence: see below.
  {
    title: '16: accounting of 503, each time',
    primary: always(error(503, { message: 'Overloaded' })),
    ...same(rescued('overloaded', 'overloaded', 'overloaded')),
  },
]

interface RecordRow {
  model: string
  asked_model: string | null
  status: number
  attempt_list: { model: string; kind: FailureKind | null }[] | null
  prompt_tokens: number
  completion_tokens: number
  cost_usd: number
  cost_estimated: string | null
}

describeOnce('failover', backend => {
  const upstreams = duringTests(startUpstreams)
  const proxy = duringTests(() =>
    startProxy({
      stores: backend.open(),
      environment: { ...upstreams.environment, UPSTREAM_CIRCUIT_FAILURES: '3', UPSTREAM_CIRCUIT_OPEN_MS: '100' },
    }),
  )
  const scripts = new Map<string, Row['primary']>()
  const calls = new Map<string, RecordedRequest[]>()

  beforeAll(async () => {
    upstreams.openai.script(request => {
      const prompt = promptOf(request)
      const sent = calls.get(prompt) ?? []
      calls.set(prompt, [...sent, request])
      return scripts.get(prompt)?.(sent.length + 1) ?? WELL
    })
    upstreams.aggregator.script(({ body }) => {
      const last = (body as { messages?: JsonObject[] }).messages?.at(-1)
      if (last?.role === 'assistant') return error(400, { message: 'This model does not support assistant prefill.' })
      return { kind: 'answer', content: TEXTS.fallback }
    })
  })

  const promptOf = ({ bodyText }: Pick<RecordedRequest, 'bodyText'>) => /prompt-[\w-]+/.exec(bodyText)?.[0] ?? ''
  const fallbackCalls = (prompt: string) => upstreams.aggregator.requests.filter(each => promptOf(each) === prompt)

  /** Creates a project with a key of the primary's provider. */
  async function createProject(settings: Record<string, string> = {}): Promise<string> {
    const project = `p-${crypto.randomUUID()}`
    const key = await proxy.createKey({
      project,
      type: 'project',
      settings: { semantic_mode: 'off', fallbacks: FALLBACK, ...settings },
    })
    await storeKey(proxy.stores, project, 'openai', 'sk-own')
    return key
  }

  async function send(key: string, endpoint: FixedPathEndpoint, delivery: Delivery, primary: Row['primary']) {
    const mode = delivery === 'plain' ? 'plain' : 'streamed'
    const id = crypto.randomUUID()
    const prompt = `prompt-${id}`
    scripts.set(prompt, primary)
    const request = writeRequest({ endpoint, mode, model: PRIMARY, prompt: `Is ${prompt} answered?` })
    const sent = { 'x-request-id': id, ...(delivery === 'whole' && { 'x-proxy-stream': 'whole' }) }
    const response = await post(proxy, key, PATHS[endpoint], request, { headers: sent })
    const { status, headers } = response
    const read = await response.text().then(
      body => ({ body, isCut: false }),
      () => ({ body: '', isCut: true }),
    )
    const outcome = readOutcome(endpoint, mode, { status, contentType: headers.get('content-type') ?? '', ...read })
    return { id, prompt, status, headers, body: read.body, outcome, primaryCalls: () => calls.get(prompt) ?? [] }
  }

  async function recordOf(id: string): Promise<RecordRow | undefined> {
    await proxy.settle()
    const [record] = await proxy.query<RecordRow>(
      `select model, asked_model, status, attempt_list, prompt_tokens, completion_tokens, cost_usd::float8 as cost_usd, cost_estimated
        from usage_records where request_id = '${id}'`,
    )
    return record
  }

  const cases = ROWS.flatMap(row =>
    ENDPOINTS.flatMap(endpoint => DELIVERIES.map(delivery => [row.title, endpoint, delivery, row] as const)),
  )

  test.concurrent.each(cases)('%s: %s, %s', async (_, endpoint, delivery, row) => {
    const expected = row[delivery] ?? row.streamed
    const sent = await send(await createProject(row.settings), endpoint, delivery, row.primary)
    const { outcome, body } = sent

    // One whole response of one model, or an error that does not look like a response.
    expect(outcome.problems).toEqual([])
    if (expected.by) expect([outcome.end, outcome.text]).toEqual(['stop', TEXTS[expected.by]])
    else {
      expect(outcome.end).toBe('error')
      expect(TEXTS.primary.startsWith(outcome.text)).toBe(true)
    }
    if (expected.by !== 'fallback') expect(body).not.toContain('second-')
    expect(body).not.toMatch(/prefill/)

    // The calls that the providers received.
    const primaryAttempts = expected.by === 'fallback' ? expected.attempts.slice(0, -1) : expected.attempts
    expect(sent.primaryCalls()).toHaveLength(primaryAttempts.length)
    expect(fallbackCalls(sent.prompt)).toHaveLength(expected.by === 'fallback' ? 1 : 0)

    // The list of attempts.
    const record = await recordOf(sent.id)
    const models = expected.attempts.map((_, at) => (at < primaryAttempts.length ? PRIMARY : FALLBACK))
    const listed = expected.attempts.map((kind, at) => ({ model: models[at], kind }))
    const hasFailed = expected.attempts.some(kind => kind !== null)
    expect(record?.attempt_list?.map(({ model, kind }) => ({ model, kind })) ?? null).toEqual(hasFailed ? listed : null)
    // The headers of a stream are sent with its first part.
    const isLate = delivery === 'streamed' && row.whole !== undefined
    const header = readProxyStatus(sent).map(({ model, kind = null }) => ({ model, kind }))
    expect(header).toEqual(hasFailed && !isLate ? listed : [])

    // The usage.
    const bills = [...sent.primaryCalls(), ...fallbackCalls(sent.prompt)].filter(({ isAnswered }) => isAnswered)
    const sumOf = (part: 'input' | 'output') => bills.reduce((sum, { billed }) => sum + (billed?.[part] ?? 0), 0)
    const billed = { input: sumOf('input'), output: sumOf('output') }
    const recorded = { input: record?.prompt_tokens ?? 0, output: record?.completion_tokens ?? 0 }
    if (row.mayCharge && hasFailed) {
      expect(recorded.input).toBeGreaterThan(expected.by ? billed.input : 0)
      expect(record?.cost_estimated).not.toBeNull()
    } else expect({ ...recorded, estimated: record?.cost_estimated }).toEqual({ ...billed, estimated: null })
  })

  test('1: the wait is at least what Retry-After says', async () => {
    const { primaryCalls } = await send(
      await createProject(),
      'chat',
      'plain',
      firstly(error(429, { retryAfterSeconds: 1 })),
    )
    const [first, second] = primaryCalls().map(({ receivedAtMs }) => receivedAtMs)
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(1_000)
  })

  test.each(ENDPOINTS)('13: the reason of the content filter is the client’s: %s', async endpoint => {
    const message = 'Rejected by the safety system.'
    const rejection = error(400, { code: 'content_policy_violation', message })
    const { status, body } = await send(await createProject(), endpoint, 'plain', always(rejection))
    expect([status, JSON.parse(body).error.message]).toEqual([400, message])
  })

  test('14: the fallback gets the client’s conversation, without a word of the primary', async () => {
    const cut: Scenario = { kind: 'cut', after: MIDDLE, content: TEXTS.primary }
    const { prompt, primaryCalls } = await send(await createProject(), 'chat', 'plain', always(cut))
    const messagesOf = ({ body }: RecordedRequest) => (body as { messages: unknown }).messages
    expect(fallbackCalls(prompt).map(messagesOf)).toEqual(primaryCalls().map(messagesOf))
  })

  test.each(ENDPOINTS)(
    '16: the response and the record name the fallback, its usage and its cost: %s',
    async endpoint => {
      const { id, prompt, headers, body } = await send(await createProject(), endpoint, 'plain', always(error(503)))
      const record = await recordOf(id)
      const { input = 0, output = 0 } = fallbackCalls(prompt)[0]?.billed ?? {}
      const { usage, model } = JSON.parse(body)
      expect([headers.get('x-proxy-model'), headers.get('x-proxy-provider'), model]).toEqual([
        FALLBACK,
        'openrouter',
        FALLBACK,
      ])
      expect([usage.prompt_tokens ?? usage.input_tokens, usage.completion_tokens ?? usage.output_tokens]).toEqual([
        input,
        output,
      ])
      expect(record).toMatchObject({ model: FALLBACK, asked_model: PRIMARY, status: 200, cost_estimated: null })
      expect([record?.prompt_tokens, record?.completion_tokens]).toEqual([input, output])
      // The fake aggregator's prices.
      expect(record?.cost_usd).toBeCloseTo(input * 1e-6 + output * 2e-6, 9)
    },
  )

  describe.each(ENDPOINTS)('15: a provider that is down for a while: %s', endpoint => {
    test.each(DELIVERIES)(
      'each request is answered, the circuit opens, and the provider is used again: %s',
      async delivery => {
        const key = await createProject()
        let isDown = true
        const primary = () => (isDown ? error(503) : WELL)
        let last: Awaited<ReturnType<typeof send>> | undefined
        async function sendNext(): Promise<void> {
          last = await send(key, endpoint, delivery, primary)
          const { text, end } = last.outcome
          expect(end).toBe('stop')
          expect(Object.values(TEXTS)).toContain(text)
          if (isDown) expect(text).toBe(TEXTS.fallback)
        }
        await waitUntil('the provider is spared', async () => {
          await sendNext()
          return last?.primaryCalls().length === 0
        })
        const record = await recordOf(last?.id ?? '')
        expect(record?.attempt_list?.map(({ kind }) => kind)).toEqual(['circuit_open', null])
        isDown = false
        await waitUntil('the provider is used again', async () => {
          await sendNext()
          return last?.outcome.text === TEXTS.primary
        })
      },
    )
  })
})
