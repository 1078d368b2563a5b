/** Streams that are delivered whole: one that fails after its first token is answered by a fallback. */
import { beforeAll, describe, expect, test } from 'vitest'
import type { RawScenario, Scenario } from '../fake-provider/scenario.ts'
import { describeOnce } from '../harness/backends.ts'
import { post } from '../harness/client.ts'
import { draw } from '../harness/depth.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startHook } from '../harness/hook.ts'
import { readOutcome } from '../harness/outcomes/read-outcome.ts'
import { type FixedPathEndpoint, PATHS, writeRequest } from '../harness/provider-cases/requests.ts'
import {
  chatStream,
  chunk,
  DONE,
  frame,
  MESSAGE_TEXT,
  messageStart,
  ROLE,
  STREAM,
  typedEvents,
  USAGE,
} from '../harness/provider-cases/write-bytes.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { waitUntil } from '../harness/wait-until.ts'

const ENDPOINTS: readonly FixedPathEndpoint[] = ['chat', 'responses', 'messages']
const WANTED = 'openai/gpt-4o-mini'
const NATIVE: Record<FixedPathEndpoint, string> = {
  chat: 'gpt-4o-mini',
  responses: 'gpt-4o-mini',
  messages: 'claude-haiku-4-5',
}
const FALLBACK = 'openai/gpt-4o'
const HEALTHY: Scenario = { kind: 'answer', content: 'Healthy' }
const HANGS_AFTER_MS = 20_000
const SILENCE_MS = 50
const NEVER_MS = 60 * 60_000
const ERROR = { message: 'There is trouble', code: 502 }

const raw = (body: string, afterwards: RawScenario['afterwards'] = 'end'): RawScenario => {
  return { kind: 'raw', parts: [body], afterwards }
}
const HALF = ROLE + chunk({ content: 'Half' })
/** Failures after the first token. */
const FAILURES: Record<string, Scenario> = {
  'a cut': raw(HALF, 'cut'),
  'a stall': raw(HALF, 'hang'),
  'a malformed chunk': raw(`${HALF}data: {"choices":[{"ind\n\n${chunk({}, 'stop')}${DONE}`),
  'a missing end': raw(HALF),
  'an error event': raw(HALF + frame({ error: ERROR }) + DONE),
  'finish_reason error': raw(HALF + chunk({}, 'error') + DONE),
}

const RESPONSE = { id: 'resp_1', object: 'response', status: 'in_progress', model: 'gpt-4o-mini', output: [] }
const HALF_RESPONSE = typedEvents(
  { type: 'response.created', response: RESPONSE },
  { type: 'response.output_text.delta', output_index: 0, content_index: 0, item_id: 'msg_1', delta: 'Half' },
)
const FAILED = typedEvents({
  type: 'response.failed',
  response: { ...RESPONSE, status: 'failed', error: { code: 'server_error', message: 'There is trouble' } },
})
const HALF_MESSAGE = messageStart({ input_tokens: 10, output_tokens: 1 }) + MESSAGE_TEXT
const NATIVE_FAILURES: [FixedPathEndpoint, string, string][] = [
  ['responses', 'a missing end', HALF_RESPONSE],
  ['responses', 'an error event', HALF_RESPONSE + FAILED],
  ['responses', 'a malformed chunk', `${HALF_RESPONSE}data: {"typ\n\n`],
  ['messages', 'a missing end', HALF_MESSAGE],
  [
    'messages',
    'an error event',
    HALF_MESSAGE + typedEvents({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
  ],
]

describeOnce('whole streams', backend => {
  const upstreams = duringTests(startUpstreams)
  const environment = () => ({
    ...upstreams.environment,
    UPSTREAM_CIRCUIT_FAILURES: '1000000',
    UPSTREAM_IDLE_TIMEOUT_MS: '400',
    MAX_UNREAD_BYTES: '4000000',
  })
  const proxy = duringTests(() =>
    startProxy({ stores: backend.open(), environment: environment(), keepAliveAfterMs: NEVER_MS }),
  )
  /** A proxy that sends response heads early. */
  const quick = duringTests(() =>
    startProxy({ stores: proxy.stores, environment: environment(), keepAliveAfterMs: SILENCE_MS }),
  )
  let key: string
  let liveKey: string
  let prompts = 0
  const scenarios = new Map<string, { wanted: Scenario | Promise<Scenario>; fallback?: Scenario | undefined }>()

  beforeAll(async () => {
    const settings = { semantic_mode: 'off', fallbacks: FALLBACK }
    key = await proxy.createKey({ project: 'whole', type: 'project', settings: { ...settings, streams: 'whole' } })
    liveKey = await proxy.createKey({ project: 'live', type: 'project', settings })
    for (const project of ['whole', 'live'])
      for (const provider of ['openai', 'anthropic'] as const) await storeKey(proxy.stores, project, provider, 'sk-own')
    for (const fake of [upstreams.aggregator, upstreams.openai])
      fake.script(({ body, bodyText }) => {
        const { wanted, fallback } = scenarios.get(/prompt-\d+/.exec(bodyText)?.[0] ?? '') ?? {}
        return (body as { model: string }).model === FALLBACK ? (fallback ?? HEALTHY) : wanted
      })
  })

  function promptFor(wanted: Scenario | Promise<Scenario>, fallback?: Scenario): string {
    const name = `prompt-${++prompts}`
    scenarios.set(name, { wanted, fallback })
    return `Is ${name} answered?`
  }

  interface Sent {
    endpoint?: FixedPathEndpoint
    model?: string
    header?: 'live' | 'whole' | 'half'
    as?: string
    to?: TestProxy
  }
  /** Begins a stream, and reads it in the background. */
  async function begin(prompt: string, { endpoint = 'chat', model = WANTED, header, as = key, to = proxy }: Sent) {
    const request = writeRequest({ endpoint, mode: 'streamed', model, prompt })
    const response = await post(to, as, PATHS[endpoint], request, {
      headers: header ? { 'x-proxy-stream': header } : {},
      signal: AbortSignal.timeout(HANGS_AFTER_MS),
    })
    let body = ''
    async function readToEnd() {
      const decoder = new TextDecoder()
      for await (const part of response.body ?? []) body += decoder.decode(part, { stream: true })
      const { status, headers } = response
      const contentType = headers.get('content-type') ?? ''
      const outcome = readOutcome(endpoint, 'streamed', { status, contentType, body, isCut: false })
      return { ...outcome, status, headers, body }
    }
    const reading = readToEnd()
    reading.catch(() => {})
    return { response, seen: () => body, read: () => reading }
  }
  const send = async (prompt: string, sent: Sent = {}) => (await begin(prompt, sent)).read()

  const callsOf = (prompt: string, model = WANTED) =>
    upstreams.aggregator.requests.filter(
      ({ body, bodyText }) => bodyText.includes(prompt) && (body as { model: string }).model === model,
    ).length

  const cases = draw(
    ENDPOINTS.flatMap(endpoint =>
      Object.entries(FAILURES).map(([name, scenario]) => [endpoint, name, scenario] as const),
    ),
  )

  test.each(cases)('%s: %s is answered by the fallback', async (endpoint, _, scenario) => {
    const sent = await send(promptFor(scenario), { endpoint })
    expect(sent).toMatchObject({ status: 200, text: 'Healthy', end: 'stop', problems: [] })
    expect(sent.headers.get('x-proxy-model')).toBe(FALLBACK)
    expect(sent.body).not.toMatch(/Half|trouble/)
  })

  test.each(NATIVE_FAILURES)('%s, native: %s is answered by the fallback', async (endpoint, _, body) => {
    upstreams.anthropic.script({ kind: 'raw', status: 200, headers: { 'content-type': STREAM }, body })
    const sent = await send(promptFor(raw(body)), { endpoint, model: NATIVE[endpoint] })
    expect(sent).toMatchObject({ text: 'Healthy', end: 'stop', problems: [] })
    expect(sent.body).not.toMatch(/Half|"resp_1"|"msg_1"/)
  })

  test.each(ENDPOINTS)('%s: a stream that succeeds is delivered as it was sent, and cached', async endpoint => {
    const prompt = promptFor(raw(chatStream({})))
    const whole = await send(prompt, { endpoint })
    expect(whole).toMatchObject({ text: 'Hi', end: 'stop', problems: [] })
    expect(whole.headers.get('x-proxy-cache')).toBe('MISS')
    const hit = await send(prompt, { endpoint, header: 'live' })
    expect([hit.text, hit.headers.get('x-proxy-cache')]).toEqual(['Hi', 'HIT'])
  })

  test('the request’s header decides, else the project’s setting', async () => {
    const half = () => promptFor(FAILURES['a missing end'] as Scenario)
    expect(await send(half(), { as: liveKey })).toMatchObject({ text: 'Half', end: 'error' })
    expect(await send(half(), { as: liveKey, header: 'whole' })).toMatchObject({ text: 'Healthy' })
    expect(await send(half())).toMatchObject({ text: 'Healthy' })
    expect(await send(half(), { header: 'live' })).toMatchObject({ text: 'Half', end: 'error' })
    const { status, body } = await send(half(), { header: 'half' })
    expect([status, JSON.parse(body).error.param]).toEqual([400, 'X-Proxy-Stream'])
  })

  describe.each(ENDPOINTS)('%s', endpoint => {
    test('if all fail, the client gets an error status', async () => {
      const cut = FAILURES['a cut'] as Scenario
      const { status, body, end } = await send(promptFor(cut, cut), { endpoint })
      expect({ status, end }).toEqual({ status: 502, end: 'error' })
      expect(body).not.toContain('Half')
    })

    test('if all fail after a comment, the client gets an error event', async () => {
      const { promise: scenario, resolve: respond } = Promise.withResolvers<Scenario>()
      const cut = FAILURES['a cut'] as Scenario
      const stream = await begin(promptFor(scenario, cut), { endpoint, to: quick })
      await waitUntil('a comment arrives', () => stream.seen().startsWith(':'))
      respond(cut)
      expect(await stream.read()).toMatchObject({ status: 200, text: '', end: 'error', problems: [] })
    })

    test('after a comment, a fallback may still respond', async () => {
      const { promise: scenario, resolve: respond } = Promise.withResolvers<Scenario>()
      const stream = await begin(promptFor(scenario), { endpoint, to: quick })
      await waitUntil('a comment arrives', () => stream.seen().startsWith(':'))
      respond(FAILURES['an error event'] as Scenario)
      expect(await stream.read()).toMatchObject({ text: 'Healthy', end: 'stop', problems: [] })
    })
  })

  test('nothing is delivered before the end', async () => {
    const stream = await begin(promptFor(raw(HALF, 'hang'), HEALTHY), { to: quick })
    await waitUntil('a comment arrives', () => stream.seen().startsWith(':'))
    expect(stream.seen()).not.toContain('Half')
    expect(await stream.read()).toMatchObject({ text: 'Healthy' })
  })

  test('each failed attempt is charged: as the provider reported, or as an estimate', async () => {
    const usage = { ...USAGE, cost: 0.25 }
    const reported = HALF + frame({ choices: [], usage }) + frame({ error: ERROR }) + DONE
    for (const [scenario, least, estimated] of [
      [raw(reported), 0.75, 'provider_failed'],
      [FAILURES['a cut'], 0.5, 'provider_failed'],
      [FAILURES['a stall'], 0.5, 'provider_silent'],
    ] as const) {
      const project = `charged-${crypto.randomUUID()}`
      const settings = { semantic_mode: 'off', fallbacks: FALLBACK, streams: 'whole' }
      const as = await proxy.createKey({ project, type: 'project', settings })
      const prompt = promptFor(scenario as Scenario, { ...HEALTHY, usage: { ...USAGE, cost: 0.5 } })
      expect(await send(prompt, { as })).toMatchObject({ text: 'Healthy' })
      await proxy.settle()
      const records = await proxy.query<{ cost_usd: string; cost_estimated: string | null; status: number }>(
        `select cost_usd, cost_estimated, status from usage_records r join projects p on p.id = r.project_id where p.name = '${project}'`,
      )
      expect(records).toMatchObject([{ cost_estimated: estimated, status: 200 }])
      const cost = Number(records[0]?.cost_usd)
      if (least === 0.75) expect(cost).toBeCloseTo(least, 6)
      else expect(cost).toBeGreaterThan(least)
      expect(cost).toBeLessThan(1)
    }
  })

  test('a live request that follows a whole one gets events as they arrive, and the reverse', async () => {
    for (const [leads, follows] of [
      ['whole', 'live'],
      ['live', 'whole'],
    ] as const) {
      const prompt = promptFor({
        kind: 'raw',
        parts: [HALF, chunk({ content: ' and half' }), chunk({}, 'stop') + DONE],
        chunkPauseMs: 150,
      })
      const leading = begin(prompt, { header: leads })
      await expect.poll(() => callsOf(prompt)).toBe(1)
      const [leader, follower] = await Promise.all([leading, begin(prompt, { header: follows })])
      const [first, second] = await Promise.all([leader.read(), follower.read()])
      expect([first.text, second.text]).toEqual(['Half and half', 'Half and half'])
      expect(second.headers.get('x-proxy-cache-reason')).toBe('coalesced')
      expect(callsOf(prompt)).toBe(1)
    }
  })

  test('a whole request that follows a live one is rescued when that one’s stream fails', async () => {
    const prompt = promptFor({
      kind: 'raw',
      parts: [HALF, chunk({ content: ' more' })],
      chunkPauseMs: 150,
      afterwards: 'cut',
    })
    const leading = begin(prompt, { header: 'live' })
    await expect.poll(() => callsOf(prompt)).toBe(1)
    const [leader, follower] = await Promise.all([leading, begin(prompt, { header: 'whole' })])
    expect(await leader.read()).toMatchObject({ text: expect.stringContaining('Half'), end: 'error' })
    expect(await follower.read()).toMatchObject({ text: 'Healthy', end: 'stop' })
  })

  test.each(['hold', 'live'])('a hook that checks streams (%s) gets the response that is delivered', async streams => {
    const hook = startHook()
    const environment = { ...upstreams.environment, ...hook.environment, HOOK_STREAMS: streams }
    const checked = await startProxy({ stores: proxy.stores, environment })
    try {
      const isForbidden = (answer: unknown) => JSON.stringify(answer ?? '').includes('secret')
      hook.setDecision(({ answer }) => ({ verdict: isForbidden(answer) ? 'refuse' : 'allow', policy: '1' }))
      const rescued = await send(promptFor(FAILURES['a missing end'] as Scenario), { to: checked })
      expect(rescued).toMatchObject({ text: 'Healthy', end: 'stop' })
      const rejected = promptFor(raw(chatStream({ deltas: [{ content: 'A secret' }] })))
      const { status, body } = await send(rejected, { to: checked })
      expect(status).toBe(400)
      expect(body).not.toContain('secret')
      expect(callsOf(rejected, FALLBACK)).toBe(0)
    } finally {
      await checked.stop()
      await hook.stop()
    }
  })

  test('a stream that is too large to be held is delivered live', async () => {
    const long = chunk({ content: 'x'.repeat(500_000) })
    const prompt = promptFor({
      kind: 'raw',
      parts: [ROLE, ...Array.from({ length: 20 }, () => long)],
      afterwards: 'cut',
    })
    const { text, end } = await send(prompt)
    expect(end).toBe('error')
    expect(text.length).toBeGreaterThan(1_000_000)
    expect(callsOf(prompt, FALLBACK)).toBe(0)
  })
})
