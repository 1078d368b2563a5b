/** Data about requests that an OpenTelemetry collector receives. */
import { beforeEach, expect, test } from 'vitest'
import { startFakeProvider } from '../fake-provider/server.ts'
import { describeOnce } from '../harness/backends.ts'
import { question } from '../harness/chat.ts'
import { ask, get, post } from '../harness/client.ts'
import { type CollectedSpan, startCollector } from '../harness/collector.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startHook } from '../harness/hook.ts'
import { startProxy } from '../harness/proxy.ts'
import { waitUntil } from '../harness/wait-until.ts'

const INTERNAL = 1
const SERVER = 2
const CLIENT = 3
const ERROR = 2
const SECRET_WORD = 'xylophone'
const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'
const PARENT = `00-${TRACE_ID}-b7ad6b7169203331-01`

describeOnce('OpenTelemetry', backend => {
  const collector = duringTests(startCollector)
  const upstream = duringTests(() => startFakeProvider({ flavour: 'aggregator' }))
  const environment = () => ({
    ...upstream.environment,
    UPSTREAM_MAX_RETRIES: '1',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-team=a%20b',
    OTEL_SERVICE_NAME: 'my-proxy',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
  })
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: environment() }))
  /** A proxy with an embedder's API. */
  const embedding = duringTests(() => {
    const embedder = { EMBEDDER: 'api', EMBEDDINGS_BASE_URL: upstream.baseUrl, EMBEDDINGS_API_KEY: 'k' }
    return startProxy({ stores: proxy.stores, environment: { ...environment(), ...embedder } })
  })
  let key: string

  beforeEach(async () => {
    upstream.reset()
    key = await proxy.createKey({ project: `p-${crypto.randomUUID()}`, type: 'project' })
    await proxy.settle()
    collector.spans.length = 0
  })

  /** Waits for this number of spans, and expects no more. */
  async function collected(count: number): Promise<{ servers: CollectedSpan[]; clients: CollectedSpan[] }> {
    await waitUntil(`${count} spans`, async () => {
      await Promise.all([proxy.settle(), embedding.settle()])
      return collector.spans.length >= count
    })
    expect(collector.spans).toHaveLength(count)
    return { servers: spansOf(SERVER), clients: spansOf(CLIENT) }
  }
  const spansOf = (kind: number) => collector.spans.filter(span => span.kind === kind)

  test('a call of the hook is a span below its request, and receives its trace context', async () => {
    const hook = startHook()
    const environment = { ...upstream.environment, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...hook.environment }
    const hooked = await startProxy({ stores: proxy.stores, environment })
    hook.setDecision(({ type }) => ({ verdict: type === 'after' ? 'refuse' : 'allow' }))
    expect((await ask(hooked, key, `Is it a ${SECRET_WORD}?`)).status).toBe(400)
    await hooked.stop()
    const { servers, clients } = await collected(4)
    const [server] = servers
    const names = clients.filter(({ parentSpanId }) => parentSpanId === server?.spanId).map(({ name }) => name)
    expect(names.toSorted()).toEqual(['chat openai/gpt-4o-mini', 'hook after', 'hook before'])
    expect(clients.find(({ name }) => name === 'hook after')?.statusCode).toBe(ERROR)
    expect(JSON.stringify(collector.spans)).not.toContain(SECRET_WORD)
    await hook.stop()
  })

  test('a miss is a request and a model call, a hit only a request', async () => {
    const usage = { prompt_tokens: 50, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 30 } }
    upstream.script({ kind: 'answer', content: SECRET_WORD, usage })
    expect((await ask(proxy, key, `What is a ${SECRET_WORD}?`)).cache).toBe('MISS')
    const hit = await ask(proxy, key, `What is a ${SECRET_WORD}?`)
    expect(hit.cache).toBe('HIT')
    const { servers, clients } = await collected(3)
    const [call] = clients
    const [missed, served] = servers
    expect(missed).toMatchObject({ name: 'POST /v1/chat/completions', parentSpanId: '', statusCode: 0 })
    expect(missed?.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.route': '/v1/chat/completions',
      'http.response.status_code': 200,
      'model_proxy.cache.result': 'MISS',
    })
    expect(missed?.resource).toMatchObject({ 'service.name': 'my-proxy', 'deployment.environment.name': 'test' })
    const { model } = question('')
    expect(call).toMatchObject({ name: `chat ${model}`, traceId: missed?.traceId, parentSpanId: missed?.spanId })
    expect(call?.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openrouter',
      'gen_ai.request.model': model,
      'gen_ai.request.stream': false,
      'gen_ai.response.model': model,
      'gen_ai.usage.input_tokens': 50,
      'gen_ai.usage.cache_read.input_tokens': 30,
      'gen_ai.usage.output_tokens': 7,
    })
    expect(served?.attributes).toMatchObject({
      'model_proxy.cache.result': 'HIT',
      'model_proxy.cache.reason': 'exact',
      'model_proxy.cache.saved_tokens': 50,
      'model_proxy.cost_usd': 0,
    })
    expect(served?.traceId).not.toBe(missed?.traceId)
    expect(collector.text()).not.toMatch(new RegExp(`${SECRET_WORD}|lgw_`))
    expect(collector.deliveries.at(-1)?.get('x-team')).toBe('a b')
  })

  test('the client’s trace continues here, and at the provider', async () => {
    await ask(proxy, key, 'Where am I?', { traceparent: PARENT, tracestate: 'vendor=one' })
    const { servers, clients } = await collected(2)
    expect(servers[0]).toMatchObject({ traceId: TRACE_ID, parentSpanId: 'b7ad6b7169203331', traceState: 'vendor=one' })
    const { headers } = upstream.requests[0] ?? { headers: {} }
    expect(headers).toMatchObject({
      traceparent: `00-${TRACE_ID}-${clients[0]?.spanId}-01`,
      tracestate: 'vendor=one',
    })
  })

  test('a trace that the client does not sample is forwarded, and not exported', async () => {
    await ask(proxy, key, 'Quiet?', { traceparent: PARENT.replace(/1$/, '0') })
    await collected(0)
    expect(upstream.requests[0]?.headers.traceparent).toMatch(new RegExp(`^00-${TRACE_ID}-[0-9a-f]{16}-00$`))
  })

  test('a stream’s spans last as long as it does, and followers have no call', async () => {
    upstream.script({ kind: 'answer', content: 'one two three four five', firstByteDelayMs: 1_000, chunkPauseMs: 20 })
    const body = question('Streamed?', { stream: true })
    await Promise.all(Array.from({ length: 3 }, () => ask(proxy, key, body)))
    const { servers, clients } = await collected(4)
    expect(clients).toHaveLength(1)
    expect(clients[0]?.durationMs).toBeGreaterThan(250)
    expect(clients[0]?.attributes['gen_ai.response.time_to_first_chunk']).toBeGreaterThan(0.15)
    for (const { durationMs } of servers) expect(durationMs).toBeGreaterThan(250)
    const reasons = servers.map(({ attributes }) => attributes['model_proxy.cache.reason'])
    expect(reasons.filter(reason => reason === 'coalesced')).toHaveLength(2)
  })

  test('a retried call is one span, and its failure a kind without a message', async () => {
    upstream.script({ kind: 'error', status: 500, message: SECRET_WORD })
    expect((await ask(proxy, key, 'Fails?')).status).toBe(500)
    expect(upstream.requests).toHaveLength(2)
    const { servers, clients } = await collected(2)
    for (const span of [...servers, ...clients]) {
      expect(span.statusCode).toBe(ERROR)
      expect(span.attributes['error.type']).toBe('500')
    }
    expect(collector.text()).not.toContain(SECRET_WORD)
  })

  test('a fallback is a separate call after the one that failed', async () => {
    const project = `p-${crypto.randomUUID()}`
    key = await proxy.createKey({ project, type: 'project' })
    await proxy.query(`select set_setting('${project}', 'fallbacks', 'someone/other')`)
    upstream.script(({ bodyText }) => (bodyText.includes('someone/other') ? undefined : { kind: 'error', status: 503 }))
    expect((await ask(proxy, key, 'Else?')).status).toBe(200)
    const { clients, servers } = await collected(3)
    expect(clients.map(({ name, statusCode }) => [name, statusCode])).toEqual([
      [`chat ${question('').model}`, ERROR],
      ['chat someone/other', 0],
    ])
    expect(servers[0]).toMatchObject({ statusCode: 0 })
  })

  /** Creates a project with a judge that treats any two questions as the same. Returns the project's key. */
  async function judgedProject(project: string, when: 'inline' | 'learn'): Promise<string> {
    const asking = await proxy.createKey({ project, type: 'project' })
    for (const [setting, value] of Object.entries({
      semantic_policy: 'judged',
      semantic_judge: when,
      semantic_judge_model: 'someone/judge',
      semantic_judge_floor: '0',
      semantic_judge_timeout_ms: '5000',
    })) {
      await proxy.query(`select set_setting('${project}', '${setting}', '${value}')`)
    }
    upstream.script(({ bodyText }) =>
      bodyText.includes('someone/judge') ? { kind: 'answer', content: '{"verdict":"same"}' } : undefined,
    )
    return asking
  }

  test('a judge in the background has its own trace', async () => {
    const project = `p-${crypto.randomUUID()}`
    const asking = await judgedProject(project, 'learn')
    await ask(proxy, asking, 'Explain how photosynthesis works in leaves, with photographs')
    await proxy.settle()
    await ask(proxy, asking, `Explain how photosynthesis works in leaves, with ${SECRET_WORD}`)
    const learned = () => upstream.requests.filter(({ bodyText }) => bodyText.includes('someone/judge'))
    await waitUntil('the judge has two requests', async () => learned().length === 2)
    // Two requests with one call each, and the task with two calls.
    const { servers, clients } = await collected(7)
    const [task] = spansOf(INTERNAL)
    expect(task).toMatchObject({ name: 'judge', parentSpanId: '', statusCode: 0 })
    expect(task?.attributes).toEqual({ 'model_proxy.purpose': 'judge', 'model_proxy.project.name': project })
    expect(servers.map(({ traceId }) => traceId)).not.toContain(task?.traceId)
    const calls = clients.filter(({ traceId }) => traceId === task?.traceId)
    expect(calls.map(({ name, parentSpanId }) => [name, parentSpanId])).toEqual(
      Array(2).fill(['chat someone/judge', task?.spanId]),
    )
    expect(learned().map(({ headers }) => headers.traceparent)).toEqual(
      calls.map(({ spanId }) => `00-${task?.traceId}-${spanId}-01`),
    )
    expect(collector.text()).not.toContain(SECRET_WORD)
  })

  test('the judge and the embedder are calls of the request that waits for them', async () => {
    const asking = await judgedProject(`p-${crypto.randomUUID()}`, 'inline')
    const traceparent = PARENT
    await ask(embedding, asking, 'Explain how photosynthesis works in leaves, with photographs')
    await embedding.settle()
    upstream.requests.length = 0
    collector.spans.length = 0
    const words = 'Explain how photosynthesis works in leaves, with drawings'
    expect((await ask(embedding, asking, words, { traceparent })).cache).toBe('HIT-SEMANTIC')
    const { servers, clients } = await collected(3)
    const byPurpose = Object.fromEntries(clients.map(span => [span.attributes['model_proxy.purpose'], span]))
    expect(Object.keys(byPurpose).toSorted()).toEqual(['embedder', 'judge'])
    expect(byPurpose.judge).toMatchObject({ name: 'chat someone/judge', parentSpanId: servers[0]?.spanId })
    expect(byPurpose.embedder).toMatchObject({
      name: 'embeddings text-embedding-3-small',
      parentSpanId: servers[0]?.spanId,
      traceId: TRACE_ID,
    })
    const sent = upstream.requests.map(({ path, headers }) => [path, headers.traceparent])
    expect(sent.toSorted()).toEqual([
      ['/v1/chat/completions', `00-${TRACE_ID}-${byPurpose.judge?.spanId}-01`],
      ['/v1/embeddings', `00-${TRACE_ID}-${byPurpose.embedder?.spanId}-01`],
    ])
  })

  test('a rejected request is a span too', async () => {
    expect((await ask(proxy, 'lgw_proj_wrong', 'Who?')).status).toBe(401)
    expect((await post(proxy, key, '/chat/completions', '{')).status).toBe(400)
    expect((await get(proxy, '/files/file-abc', key)).status).toBe(404)
    const { servers } = await collected(3)
    expect(
      servers.map(({ name, statusCode, attributes }) => [name, statusCode, attributes['http.response.status_code']]),
    ).toEqual([
      ['POST /v1/chat/completions', 0, 401],
      ['POST /v1/chat/completions', 0, 400],
      ['GET /v1/files/{id}', 0, 404],
    ])
  })

  test('an unreachable collector costs requests nothing', async () => {
    collector.answerWith(400)
    expect((await ask(proxy, key, 'Lost?')).status).toBe(200)
    await proxy.settle()
    collector.answerWith(200)
    collector.spans.length = 0
    expect((await ask(proxy, key, 'Lost?')).cache).toBe('HIT')
    await collected(1)
  })
})
