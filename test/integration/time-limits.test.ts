/** Limits on the time to the first token, between tokens, and for a plain response: whoever exceeds one is replaced by a fallback, or is a 504. */
import { beforeAll, expect, test } from 'vitest'
import type { RawScenario, Scenario } from '../fake-provider/scenario.ts'
import { describeOnce } from '../harness/backends.ts'
import { post } from '../harness/client.ts'
import { draw } from '../harness/depth.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import type { Mode } from '../harness/outcomes/outcome.ts'
import { readOutcome } from '../harness/outcomes/read-outcome.ts'
import { type FixedPathEndpoint, PATHS, writeRequest } from '../harness/provider-cases/requests.ts'
import { chunk, DONE, frame, JSON_TYPE, ROLE, typedEvents } from '../harness/provider-cases/write-bytes.ts'
import { startProxy } from '../harness/proxy.ts'

const ENDPOINTS: readonly FixedPathEndpoint[] = ['chat', 'responses', 'messages']
const SLOW = 'openai/gpt-4o-mini'
const FALLBACK = 'openai/gpt-4o'
const LIMIT_MS = 300
/** A limit that no test reaches. */
const LONG_MS = 60_000
const HANGS_AFTER_MS = 20_000
const HEALTHY: Scenario = { kind: 'answer', content: 'Healthy' }

/** Sends the parts repeatedly, for far longer than the limit. */
function repeat(beginning: string, part: string, headers: Record<string, string> = {}): RawScenario {
  const parts = [beginning, ...Array.from({ length: 100 }, () => part)].filter(each => each !== '')
  return { kind: 'raw', parts, headers, chunkPauseMs: 40, afterwards: 'hang' }
}

/** Events that are not tokens, at chat. */
const NO_TOKENS: Record<string, Scenario> = {
  nothing: { kind: 'hang', after: 'nothing' },
  comments: repeat('', ': processing\n\n'),
  'the role, repeatedly': repeat('', ROLE),
  'empty deltas': repeat(ROLE, chunk({ content: '' })),
  'deltas without fields': repeat(ROLE, chunk({})),
  'chunks without choices': repeat(ROLE, frame({ id: 'chatcmpl-1', choices: [] })),
}

const RESPONSE = { id: 'resp_1', object: 'response', status: 'in_progress', model: 'gpt-4o-mini', output: [] }
const CREATED = typedEvents(
  { type: 'response.created', response: RESPONSE },
  { type: 'response.in_progress', response: RESPONSE },
)

describeOnce('time limits', backend => {
  const upstreams = duringTests(startUpstreams)
  const proxy = duringTests(() =>
    startProxy({
      stores: backend.open(),
      environment: { ...upstreams.environment, UPSTREAM_CIRCUIT_FAILURES: '1000000' },
    }),
  )
  let prompts = 0
  const scenarios = new Map<string, Scenario | Promise<Scenario>>()

  beforeAll(async () => {
    for (const fake of [upstreams.aggregator, upstreams.openai])
      fake.script(({ body, bodyText }) =>
        (body as { model: string }).model === FALLBACK
          ? HEALTHY
          : scenarios.get(/prompt-\d+/.exec(bodyText)?.[0] ?? ''),
      )
  })

  async function createProject(settings: Record<string, string>) {
    const project = `limits-${crypto.randomUUID()}`
    const key = await proxy.createKey({ project, type: 'project', settings: { semantic_mode: 'off', ...settings } })
    for (const provider of ['openai', 'anthropic'] as const) await storeKey(proxy.stores, project, provider, 'sk-own')
    return { project, key }
  }

  function promptFor(scenario: Scenario): string {
    const name = `prompt-${++prompts}`
    scenarios.set(name, scenario)
    return `Is ${name} answered?`
  }

  interface Sent {
    endpoint?: FixedPathEndpoint
    mode?: Mode
    model?: string
    header?: string
  }
  async function send(
    key: string,
    prompt: string,
    { endpoint = 'chat', mode = 'streamed', model = SLOW, header }: Sent,
  ) {
    const request = writeRequest({ endpoint, mode, model, prompt })
    const headers = header === undefined ? {} : { 'x-proxy-first-token-timeout-ms': header }
    const response = await post(proxy, key, PATHS[endpoint], request, {
      headers,
      signal: AbortSignal.timeout(HANGS_AFTER_MS),
    })
    const body = await response.text()
    const contentType = response.headers.get('content-type') ?? ''
    const outcome = readOutcome(endpoint, mode, { status: response.status, contentType, body, isCut: false })
    return { ...outcome, status: response.status, headers: response.headers, body }
  }

  const callsOf = (prompt: string, model: string) =>
    upstreams.aggregator.requests.filter(
      ({ body, bodyText }) => bodyText.includes(prompt) && (body as { model: string }).model === model,
    ).length

  const withFallback = { fallbacks: FALLBACK }
  const cases = <Value>(values: Record<string, Value>) =>
    draw(ENDPOINTS.flatMap(endpoint => Object.entries(values).map(([name, value]) => [endpoint, name, value] as const)))

  test.concurrent.each(cases(NO_TOKENS))('%s: %s are no first token', async (endpoint, _, scenario) => {
    const { key } = await createProject({ ...withFallback, first_token_timeout_ms: `${LIMIT_MS}` })
    const prompt = promptFor(scenario)
    expect(await send(key, prompt, { endpoint })).toMatchObject({ text: 'Healthy', end: 'stop', problems: [] })
    expect(callsOf(prompt, SLOW)).toBe(1)
  })

  test('the events that begin a response are no first token', async () => {
    const { key } = await createProject({ ...withFallback, first_token_timeout_ms: `${LIMIT_MS}` })
    const prompt = promptFor(repeat(CREATED, typedEvents({ type: 'keepalive' })))
    expect(await send(key, prompt, { endpoint: 'responses', model: 'gpt-4o-mini' })).toMatchObject({ text: 'Healthy' })
    upstreams.anthropic.script({ kind: 'hang', after: 1 })
    for (const endpoint of ENDPOINTS)
      expect(await send(key, promptFor(HEALTHY), { endpoint, model: 'claude-haiku-4-5' })).toMatchObject({
        text: 'Healthy',
      })
  })

  test.concurrent.each(ENDPOINTS)('%s: reasoning is a token', async endpoint => {
    const { key } = await createProject({ ...withFallback, first_token_timeout_ms: `${LIMIT_MS}` })
    const thoughts = Array.from({ length: 12 }, () => chunk({ reasoning_content: 'So. ' }))
    const end = chunk({ content: 'Thought' }) + chunk({}, 'stop') + DONE
    const prompt = promptFor({ kind: 'raw', parts: [ROLE, ...thoughts, end], chunkPauseMs: 40 })
    expect(await send(key, prompt, { endpoint })).toMatchObject({ text: 'Thought', end: 'stop' })
  })

  test.concurrent.each(ENDPOINTS)('%s: comments do not replace the next token', async endpoint => {
    const { key } = await createProject({ ...withFallback, idle_timeout_ms: `${LIMIT_MS}` })
    const prompt = promptFor(repeat(ROLE + chunk({ content: 'Half' }), ': processing\n\n'))
    const { text, end, body } = await send(key, prompt, { endpoint })
    expect({ text, end }).toEqual({ text: 'Half', end: 'error' })
    expect(body).toContain(`no next token within ${LIMIT_MS} ms`)
  })

  test.concurrent.each(ENDPOINTS)('%s: a plain response must be complete in time', async endpoint => {
    const { key } = await createProject({ ...withFallback, response_timeout_ms: `${LIMIT_MS}` })
    const asJson = { 'content-type': JSON_TYPE }
    for (const scenario of [{ kind: 'hang', after: 'nothing' }, repeat('', ' ', asJson)] as const) {
      const prompt = promptFor(scenario)
      expect(await send(key, prompt, { endpoint, mode: 'plain' })).toMatchObject({ text: 'Healthy', end: 'stop' })
      expect(callsOf(prompt, SLOW)).toBe(1)
    }
  })

  test.concurrent.each(
    draw(ENDPOINTS.flatMap(endpoint => (['streamed', 'plain'] as const).map(mode => [endpoint, mode] as const))),
  )('%s, %s: a client can lower the limits, and gets a 504 in its format', async (endpoint, mode) => {
    const { key } = await createProject({ first_token_timeout_ms: `${LONG_MS}` })
    const prompt = promptFor({ kind: 'hang', after: 'nothing' })
    const { status, end, body, headers } = await send(key, prompt, { endpoint, mode, header: '200' })
    expect({ status, end, retry: headers.get('x-should-retry') }).toEqual({ status: 504, end: 'error', retry: 'false' })
    expect(JSON.parse(body).error.message).toMatch(/no (first token|complete response) within 200 ms/)
    expect(callsOf(prompt, SLOW)).toBe(1)
  })

  test.concurrent('a client cannot raise the limits', async () => {
    const { key } = await createProject({ first_token_timeout_ms: `${LIMIT_MS}` })
    const { body } = await send(key, promptFor({ kind: 'hang', after: 'nothing' }), { header: `${LONG_MS}` })
    expect(body).toContain(`no first token within ${LIMIT_MS} ms`)
  })

  test('a bad header is a 400 that names it', async () => {
    const { key } = await createProject({})
    const { status, body } = await send(key, promptFor(HEALTHY), { header: 'soon' })
    expect([status, JSON.parse(body).error.param]).toEqual([400, 'X-Proxy-First-Token-Timeout-Ms'])
  })

  test.concurrent('a model may have limits of its own', async () => {
    const { key } = await createProject({
      ...withFallback,
      first_token_timeout_ms: `${LONG_MS},${SLOW}=${LIMIT_MS},openai/*=${LONG_MS}`,
    })
    expect(await send(key, promptFor({ kind: 'hang', after: 'nothing' }), {})).toMatchObject({ text: 'Healthy' })
  })

  test.concurrent('the last candidate’s timeout is the client’s 504', async () => {
    const { key } = await createProject({ fallbacks: 'openai/gpt-4.1-mini', first_token_timeout_ms: `${LIMIT_MS}` })
    const prompt = promptFor({ kind: 'hang', after: 'nothing' })
    const { status, body } = await send(key, prompt, {})
    expect([status, JSON.parse(body).error.code]).toEqual([504, 'upstream_timeout'])
    expect([callsOf(prompt, SLOW), callsOf(prompt, 'openai/gpt-4.1-mini')]).toEqual([1, 1])
  })

  test.each(ENDPOINTS)('%s: a timeout is charged as an estimate beside the fallback’s cost', async endpoint => {
    const settings = { ...withFallback, first_token_timeout_ms: `${LIMIT_MS}`, cache_mode: 'off' }
    const { project, key } = await createProject(settings)
    const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12, cost: 0.5 }
    upstreams.aggregator.scriptOnce(repeat(ROLE, ': processing\n\n'), { ...HEALTHY, usage })
    expect(await send(key, promptFor(HEALTHY), { endpoint })).toMatchObject({ text: 'Healthy' })
    await proxy.settle()
    const [record] = await proxy.query<{ cost_usd: string; cost_estimated: string | null; attempts: number }>(
      `select cost_usd, cost_estimated, attempts from usage_records r join projects p on p.id = r.project_id where p.name = '${project}'`,
    )
    expect(record).toMatchObject({ cost_estimated: 'provider_silent', attempts: 2 })
    expect(Number(record?.cost_usd)).toBeGreaterThan(0.5)
  })

  test.each(['streamed', 'plain'] as const)(
    '%s: identical requests do not call a model again that took too long',
    async mode => {
      const { key } = await createProject({
        ...withFallback,
        first_token_timeout_ms: `${LIMIT_MS}`,
        response_timeout_ms: `${LIMIT_MS}`,
      })
      const prompt = promptFor({ kind: 'hang', after: 'nothing' })
      const sent = await Promise.all(Array.from({ length: 5 }, () => send(key, prompt, { mode })))
      expect(sent.map(({ text }) => text)).toEqual(Array(5).fill('Healthy'))
      expect(callsOf(prompt, SLOW)).toBe(1)
    },
  )

  test('a request that follows another one waits no longer than its own limit', async () => {
    const { key } = await createProject({ first_token_timeout_ms: `${LONG_MS}`, response_timeout_ms: `${LONG_MS}` })
    const prompt = promptFor({ kind: 'answer', content: 'Late', firstByteDelayMs: 1_500 })
    const patient = send(key, prompt, {})
    await expect.poll(() => callsOf(prompt, SLOW)).toBe(1)
    for (const mode of ['streamed', 'plain'] as const)
      expect(await send(key, prompt, { mode, header: '200' })).toMatchObject({ status: 504 })
    expect(await patient).toMatchObject({ status: 200, text: 'Late' })
    expect(callsOf(prompt, SLOW)).toBe(1)
  })

  test('a request that follows a less patient one is not ended by its limit', async () => {
    const { key } = await createProject({})
    const { promise: scenario, resolve: respond } = Promise.withResolvers<Scenario>()
    const prompt = promptFor(HEALTHY)
    scenarios.set(/prompt-\d+/.exec(prompt)?.[0] ?? '', scenario)
    const hasty = send(key, prompt, { header: '300' })
    await expect.poll(() => callsOf(prompt, SLOW)).toBe(1)
    const patient = send(key, prompt, {})
    expect(await hasty).toMatchObject({ status: 504 })
    respond(HEALTHY)
    expect(await patient).toMatchObject({ status: 200, text: 'Healthy' })
  })
})
