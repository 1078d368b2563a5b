/** The attempts of a request: in its record, its header Proxy-Status, its span, the fallback metric, the admin API. */
import { beforeEach, expect, test } from 'vitest'
import type { Attempt } from '../../src/postgres/usage-record.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import type { Scenario } from '../fake-provider/scenario.ts'
import { describeOnce } from '../harness/backends.ts'
import { question } from '../harness/chat.ts'
import { post, readAnswer } from '../harness/client.ts'
import { startCollector } from '../harness/collector.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'
import { readProxyStatus } from '../harness/read-proxy-status.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { addUser, issueAdminKey, send as sendAdmin } from './admin/people.ts'

const ASKED = 'openai/gpt-4o-mini'
const FALLBACK = 'openai/gpt-4o'
const INVENTED = 'gpt-invented'
const PROMPT = 'an unmistakable question'
const OVERLOADED: Scenario = { kind: 'error', status: 503, message: `Overloaded by ${PROMPT}` }

const MS = expect.any(Number)
const attempt = (fields: Partial<Attempt>) => {
  return { model: ASKED, provider: 'openrouter', key: null, kind: null, status: 200, ms: MS, ...fields }
}

describeOnce('attempts', backend => {
  const metrics = createMetrics()
  const collector = duringTests(startCollector)
  const upstreams = duringTests(startUpstreams)
  const proxy = duringTests(() =>
    startProxy({
      stores: backend.open(),
      environment: { ...upstreams.environment, UPSTREAM_MAX_RETRIES: '1', OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
      metrics,
      dashboard: true,
    }),
  )
  let project: string
  let key: string

  beforeEach(async () => {
    upstreams.reset()
    collector.spans.length = 0
    project = `p-${crypto.randomUUID()}`
    key = await proxy.createKey({ project, type: 'project', settings: { fallbacks: FALLBACK } })
  })

  async function send(fields: Record<string, unknown> = {}, to = proxy) {
    const id = crypto.randomUUID()
    const headers = { 'x-request-id': id, origin: 'https://app.example' }
    const answer = await readAnswer(await post(to, key, '/chat/completions', question(PROMPT, fields), { headers }))
    await to.settle()
    const [record] = await proxy.query<Row>(
      `select attempts, provider_keys, attempt_list, status from usage_records where request_id = '${id}'`,
    )
    return { id, answer, record, header: readProxyStatus(answer) }
  }

  interface Row {
    attempts: number | null
    provider_keys: string | null
    attempt_list: Attempt[] | null
    status: number
  }

  const fallbackCounts = () =>
    Object.fromEntries(
      metrics
        .snapshot()
        .filter(({ name }) => name === 'model_proxy_fallbacks_total')
        .flatMap(({ series }) => series.map(({ labels, value }) => [labels.join(' '), value])),
    )

  test('of a retry and a fallback are the same everywhere, without the prompt', async () => {
    upstreams.aggregator.script(({ body }) => ((body as { model: string }).model === FALLBACK ? undefined : OVERLOADED))
    const before = fallbackCounts()
    const { id, answer, record, header } = await send()
    const failed = attempt({ kind: 'overloaded', status: 503 })
    expect(answer.status).toBe(200)
    expect(record).toEqual({
      attempts: 3,
      provider_keys: null,
      attempt_list: [failed, failed, attempt({ model: FALLBACK })],
      status: 200,
    })
    expect(header).toEqual(
      record?.attempt_list?.map(({ model, provider, kind, status, ms }) => ({
        'next-hop': provider,
        model,
        ...(kind && { error: kind, kind }),
        'received-status': status,
        ms,
      })),
    )
    expect(answer.headers.get('access-control-expose-headers')).toMatch(/\bProxy-Status\b/i)
    const label = `${ASKED} ${FALLBACK} overloaded`
    expect(fallbackCounts()).toEqual({ ...before, [label]: (before[label] ?? 0) + 1 })

    await waitUntil('spans are exported', async () => {
      await proxy.settle()
      return collector.spans.length >= 3
    })
    const events = collector.spans.flatMap(span => span.events.map(event => ({ span: span.name, ...event })))
    const attributes = {
      'model_proxy.attempt.model': ASKED,
      'model_proxy.attempt.provider': 'openrouter',
      'model_proxy.attempt.kind': 'overloaded',
      'model_proxy.attempt.status': 503,
      'model_proxy.attempt.ms': MS,
    }
    const event = { span: `chat ${ASKED}`, name: 'model_proxy.failed_attempt', attributes }
    expect(events).toEqual([event, event])

    await addUser(proxy, `${project}@example.org`, 'owner')
    const admin = await issueAdminKey(proxy, `${project}@example.org`)
    const [{ id: projectId } = { id: 0 }] = await proxy.query<{ id: number }>(
      `select id from projects where name = '${project}'`,
    )
    const shown = await sendAdmin(proxy, 'GET', `/v1/requests?project_id=proj_${projectId}&request_id=${id}`, {
      headers: { authorization: `Bearer ${admin}` },
    })
    expect(shown.json.data).toMatchObject([{ attempts: 3, attempt_list: record?.attempt_list }])
    for (const said of [JSON.stringify(record), answer.headers.get('proxy-status'), collector.text()])
      expect(said).not.toContain(PROMPT)
  })

  test('are not listed if none failed, and a hit has none', async () => {
    for (const attempts of [1, null]) {
      const { answer, record } = await send()
      expect(answer.headers.has('proxy-status')).toBe(false)
      expect(record).toMatchObject({ attempts, attempt_list: null, status: 200 })
    }
  })

  test('name the keys that were used, but no secret', async () => {
    for (const name of ['one', 'two']) await storeKey(proxy.stores, project, 'openai', `sk-${name}-secret`, { name })
    upstreams.openai.scriptOnce({ kind: 'error', status: 401, message: 'Incorrect key sk-one-secret or sk-two-secret' })
    const { answer, record, header } = await send({ model: 'gpt-4o-mini' })
    const used = answer.headers.get('x-proxy-provider-key')
    const rejected = used === 'one' ? 'two' : 'one'
    const direct = { model: 'gpt-4o-mini', provider: 'openai' }
    expect(record).toMatchObject({
      attempts: 2,
      provider_keys: `${rejected} 401, ${used}`,
      attempt_list: [
        attempt({ ...direct, key: rejected, kind: 'authentication', status: 401 }),
        attempt({ ...direct, key: used }),
      ],
    })
    expect(header.map(({ key }) => key)).toEqual([rejected, used])
    expect(`${JSON.stringify(record)} ${answer.headers.get('proxy-status')}`).not.toContain('secret')
  })

  test.each([
    [{ kind: 'cut', after: 'nothing' }, 'connection_reset', 'connection_terminated', null, 502, 2],
    [
      { kind: 'error', status: 429, code: 'insufficient_quota' },
      'insufficient_quota',
      'insufficient_quota',
      429,
      429,
      1,
    ],
    [{ kind: 'error', status: 422, message: 'Wrong' }, 'invalid_request', 'invalid_request', 422, 422, 1],
    [{ kind: 'errorInAnswer', afterChunks: 0, shape: 'bare' }, 'server_error', 'server_error', 200, 502, 2],
    [{ kind: 'invalidJson' }, 'malformed', 'malformed', null, 502, 2],
  ] as const)('of a failure are in its error response: %j', async (scenario, kind, error, received, status, calls) => {
    await proxy.query(`select set_setting('${project}', 'fallbacks', '')`)
    await storeKey(proxy.stores, project, 'openai', 'sk-only')
    upstreams.openai.script(scenario)
    const { answer, record, header } = await send({ model: 'gpt-4o-mini' })
    expect([answer.status, record?.attempts]).toEqual([status, calls])
    expect(record?.attempt_list?.at(-1)).toMatchObject({ kind, provider: 'openai' })
    expect(header).toHaveLength(calls)
    expect(header.at(-1)).toMatchObject({ error, kind, model: 'gpt-4o-mini' })
    if (received !== null && received !== 200) expect(header.at(-1)).toMatchObject({ 'received-status': received })
  })

  test('of a stream that breaks off are in the record, with the failure after the response began', async () => {
    upstreams.aggregator.scriptOnce(OVERLOADED)
    upstreams.aggregator.scriptOnce({ kind: 'cut', after: 4 })
    const { answer, record, header } = await send({ stream: true })
    expect(answer.status).toBe(200)
    // The headers were sent before.
    expect(header.map(({ kind }) => kind)).toEqual(['overloaded', undefined])
    expect(record).toMatchObject({
      attempts: 2,
      attempt_list: [attempt({ kind: 'overloaded', status: 503 }), attempt({ kind: 'truncated' })],
    })
  })

  test('of a stream whose headers are sent early are in the record alone', async () => {
    const early = await startProxy({ stores: proxy.stores, environment: upstreams.environment, keepAliveAfterMs: 1 })
    upstreams.aggregator.scriptOnce({ ...OVERLOADED, firstByteDelayMs: 50 })
    const { answer, record } = await send({ stream: true }, early)
    expect(answer.headers.has('proxy-status')).toBe(false)
    expect(record?.attempt_list).toEqual([attempt({ kind: 'overloaded', status: 503 }), attempt({})])
    await early.stop()
  })

  test('of a model that a client invents are no series of their own', async () => {
    await storeKey(proxy.stores, project, 'openai', 'sk-only')
    upstreams.openai.script(OVERLOADED)
    const before = fallbackCounts()
    const { record, header } = await send({ model: INVENTED })
    expect(record?.attempt_list?.map(({ model }) => model)).toEqual([INVENTED, INVENTED, FALLBACK])
    expect(header.map(({ model }) => model)).toEqual([INVENTED, INVENTED, FALLBACK])
    const label = `other ${FALLBACK} overloaded`
    expect(fallbackCounts()).toEqual({ ...before, [label]: (before[label] ?? 0) + 1 })
  })

  test('a call that a request shares is listed for the request that made it', async () => {
    const { promise: scenario, resolve } = Promise.withResolvers<Scenario>()
    upstreams.aggregator.script(() => (upstreams.aggregator.requests.length === 1 ? scenario : undefined))
    const sent = [send(), send()]
    await waitUntil('the provider is called', () => upstreams.aggregator.requests.length === 1)
    resolve(OVERLOADED)
    const lists = (await Promise.all(sent)).map(({ record }) => record?.attempt_list?.map(({ kind }) => kind) ?? null)
    expect(lists).toEqual(expect.arrayContaining([['overloaded', null], null]))
  })
})
