/**
 * A scripted day of traffic at every endpoint through two workers. The totals of Prometheus and of the collector equal the sums of the
 * records, the records equal the headers, and both equal the responses' `usage`.
 */
import { expect, test } from 'vitest'
import { findFreePort } from '../../scripts/bench/processes.ts'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { startRealtime } from '../fake-provider/realtime.ts'
import { openAccounts } from '../faults/accounts.ts'
import { startProxyProcess } from '../faults/proxy-process.ts'
import { startPostgres, startRedis } from '../faults/servers.ts'
import { type Answer, get, post, readAnswer } from '../harness/client.ts'
import { startCollector } from '../harness/collector.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { ENDPOINT_CASES, JUDGE, postJsonOrForm, uploadBatchInput } from '../harness/endpoints.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { describeEngines } from './engines.ts'
import { startPrometheus } from './start-prometheus.ts'

const HOURS = 3
const SERVER = 2
const CLIENT = 3
/** Excludes the realtime session, which opens before budgets exist, and the judge, which has no path. */
const PATHS = ENDPOINT_CASES.filter(({ path }) => path !== '/realtime' && path !== JUDGE.path)
/** Endpoints with streamed responses. */
const STREAMED = ['/chat/completions', '/completions', '/responses', '/messages']

interface ReceivedAnswer {
  id: string
  path: string
  status: number
  cache: string | null
  provider: string | null
  /** Null if the response is streamed, because the header has an estimate. */
  usd: number | null
  /** The usage in the response; null if it has none. */
  usage: { input: number; output: number } | null
}

interface Recorded {
  request_id: string
  endpoint: string
  status: number
  cache_result: string | null
  provider: string | null
  cost_usd: number
  estimated: string | null
  prompt_tokens: number
  completion_tokens: number
}

describeEngines('a day of requests', ['prometheus'], () => {
  const metricsPort = findFreePort()
  const token = 'a-scraper-knows-it'
  const postgres = duringTests(startPostgres)
  const redis = duringTests(startRedis)
  const upstreams = duringTests(startUpstreams)
  const realtime = duringTests(() => startRealtime({ elsewhere: upstreams.openai.baseUrl }))
  const collector = duringTests(startCollector)
  const team = duringTests(() =>
    startProxyProcess({
      ...upstreams.environment,
      OPENAI_BASE_URL: realtime.baseUrl,
      DATABASE_URL: postgres.url,
      REDIS_URL: redis.url,
      WORKERS: '2',
      METRICS_PORT: String(metricsPort),
      METRICS_TOKEN: token,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    }),
  )
  const database = duringTests(() => openServerDatabase({ url: postgres.url, maxConnections: 2 }))
  const accounts = openAccounts(database)
  const prometheus = duringTests(() => startPrometheus(metricsPort, token, []))
  const answers: ReceivedAnswer[] = []

  async function send(key: string, path: string, body: Record<string, unknown> | string, tags = 'hour=0') {
    return recordAnswer(
      path,
      body,
      await readAnswer(await postJsonOrForm(team, key, path, body, { 'x-proxy-tags': tags })),
    )
  }

  function recordAnswer(path: string, body: Record<string, unknown> | string, answer: Answer): Answer {
    const { status, headers, cache, json } = answer
    const cost = headers.get('x-proxy-cost-usd')
    const isStreamed = path.includes(':stream') || (typeof body === 'object' && body.stream)
    answers.push({
      id: headers.get('x-request-id') ?? '',
      path,
      status,
      cache,
      provider: headers.get('x-proxy-provider'),
      usd: isStreamed || cost === null ? null : Number(cost),
      usage: cache === 'MISS' ? usageOf(json?.usage) : null,
    })
    return answer
  }

  /** Runs a session with two responses. */
  async function converse(key: string): Promise<void> {
    const address = `${team.baseUrl.replace('http', 'ws')}/realtime?model=gpt-realtime-2`
    const socket = new WebSocket(address, { headers: { authorization: `Bearer ${key}` } } as never)
    for (let turn = 0; turn < 2; turn++) {
      await new Promise<void>((resolve, reject) => {
        const begin = () => socket.send(JSON.stringify({ type: 'response.create' }))
        if (turn === 0) socket.onopen = begin
        else begin()
        socket.onerror = reject
        socket.onmessage = ({ data }) => JSON.parse(String(data)).type === 'response.done' && resolve()
      })
    }
    socket.close()
    await waitUntil('the session and its responses are recorded', async () => (await readRecords()).length === 3)
  }

  /** Traffic that does not belong to one endpoint: aliases, rejected requests, followers and completed batches. */
  async function strayFromDoors(key: string): Promise<void> {
    const questionOf = (content: string, model = 'gpt-4o-mini') => ({ model, messages: [{ role: 'user', content }] })
    const path = '/chat/completions'
    for (const model of ['smart', 'gpt-4o-mini']) await send(key, path, questionOf('By which name?', model))
    expect(answers.slice(-2).map(({ cache }) => cache)).toEqual(['MISS', 'HIT'])
    await send(key, path, '{')
    await send(key, path, questionOf('Who?', 'nobody/knows-it'))
    expect(answers.slice(-2).map(({ status }) => status)).toEqual([400, 400])
    expect((await post(team, 'lgw_proj_wrong', path, questionOf('Who?'))).status).toBe(401)
    upstreams.openai.script(({ bodyText }) =>
      bodyText.includes('Together') ? { kind: 'answer', content: 'Yes.', firstByteDelayMs: 500 } : undefined,
    )
    await Promise.all(Array.from({ length: 6 }, () => send(key, path, questionOf('Together?'))))
    const inputFile = await uploadBatchInput(team, key)
    const body = { input_file_id: inputFile, endpoint: '/v1/chat/completions', completion_window: '24h' }
    const { json } = await send(key, '/batches', body)
    let batch = json
    for (let asks = 0; batch.status !== 'completed' && asks < 5; asks++)
      batch = (await readAnswer(await get(team, `/batches/${json.id}`, key))).json
    expect(batch.status).toBe('completed')
  }

  function usageOf(usage: Record<string, number> | undefined): ReceivedAnswer['usage'] {
    const input = usage?.prompt_tokens ?? usage?.input_tokens
    if (!usage || input === undefined) return null
    const kept = (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0)
    return { input: input + kept, output: usage.completion_tokens ?? usage.output_tokens ?? 0 }
  }

  const readRecords = () =>
    database.call<Recorded>(
      `select request_id, endpoint, status, cache_result, provider, cost_usd::float8, cost_estimated as estimated, prompt_tokens, completion_tokens from usage_records`,
      [],
    )

  test('the records equal what headers and responses reported', { timeout: 180_000 }, async () => {
    const account = await accounts.create({ type: 'project' })
    const { key, project } = account
    for (const provider of ['openai', 'anthropic'] as const) await storeKey({ database }, project, provider, 'sk-own')
    await converse(key)
    await database.call(`select set_setting('${project}', 'aliases', 'smart=gpt-4o-mini')`, [])
    // Budgets are active, as in production.
    await database.call(
      `select set_budget('${project}', 'usd', 1000, 'day'), set_budget(null, 'usd', 1000, 'month')`,
      [],
    )
    const inputFile = await uploadBatchInput(team, key)
    for (let hour = 0; hour < HOURS; hour++) {
      await Promise.all(
        PATHS.map(async ({ path, body }, n) => {
          const tags = `team=${n % 2 ? 'search' : 'ads'},hour=${hour}`
          const request = body(hour * 100 + n, inputFile)
          await send(key, path, request, tags)
          // The same request again. It is served from the cache if the endpoint has one.
          await send(key, path, request, tags)
          if (STREAMED.includes(path)) await send(key, path, { ...body(hour * 100 + n + 50, ''), stream: true }, tags)
        }),
      )
    }
    await strayFromDoors(key)
    expect(new Set(answers.filter(({ status }) => status === 200).map(({ path }) => path)).size).toBeGreaterThan(10)
    let records: Recorded[] = []
    const isRecorded = ({ id }: ReceivedAnswer) => records.some(({ request_id }) => request_id === id)
    await waitUntil('all responses are recorded', async () => {
      records = await readRecords()
      const isBatchOver = records.some(
        ({ endpoint, completion_tokens }) => endpoint === 'batches' && completion_tokens > 0,
      )
      return isBatchOver && answers.every(isRecorded)
    }).catch(() => expect(answers.filter(each => !isRecorded(each)).slice(0, 5)).toEqual([]))
    expect(records.filter(({ estimated }) => estimated).map(({ endpoint }) => endpoint)).toEqual([])
    for (const { id, path, status, cache, provider, usd, usage } of answers) {
      const record = records.find(({ request_id }) => request_id === id)
      expect([path, record?.status, record?.cache_result]).toEqual([path, status, cache])
      if (provider !== null) expect([path, record?.provider]).toEqual([path, provider])
      if (usd !== null) expect([path, record?.cost_usd.toFixed(9)]).toEqual([path, usd.toFixed(9)])
      if (usage)
        expect([path, { input: record?.prompt_tokens, output: record?.completion_tokens }]).toEqual([path, usage])
    }
  })

  test('Prometheus has the sums of the records', async () => {
    const [sums] = await database.call<Record<string, number>>(
      `select count(*)::int as requests, sum(cost_usd)::float8 as usd, sum(saved_usd)::float8 as saved_usd,
        sum(prompt_tokens)::int as input, sum(completion_tokens)::int as output, sum(tokens_saved)::int as saved,
        count(*) filter (where cache_result = 'HIT')::int as hits
      from usage_records`,
      [],
    )
    expect(sums?.hits).toBeGreaterThan(0)
    await prometheus.expectValue('sum(model_proxy_requests_total)', sums?.requests ?? -1)
    await prometheus.expectValue('sum(model_proxy_requests_total{cache="HIT"})', sums?.hits ?? -1)
    await prometheus.expectValue('sum(model_proxy_cost_usd_total)', sums?.usd ?? -1, 6)
    await prometheus.expectValue('sum(model_proxy_saved_usd_total)', sums?.saved_usd ?? -1, 6)
    await prometheus.expectValue('sum(model_proxy_tokens_total{direction="input"})', sums?.input ?? -1)
    await prometheus.expectValue('sum(model_proxy_tokens_total{direction="output"})', sums?.output ?? -1)
    await prometheus.expectValue('sum(model_proxy_tokens_total{direction="saved"})', sums?.saved ?? -1)
    const [followers] = await database.call<{ count: number }>(
      `select count(*)::int from usage_records where cache_reason = 'coalesced'`,
      [],
    )
    expect(followers?.count).toBeGreaterThan(0)
    await prometheus.expectValue('sum(model_proxy_coalesced_requests_total)', followers?.count ?? -1)
    await prometheus.expectValue('sum(model_proxy_unrecorded_requests_total{status="401"})', 1)
    const refused = answers.filter(({ status }) => status === 400).length
    await prometheus.expectValue('sum(model_proxy_requests_total{status="400"})', refused)
    const byDoor = await database.call<{ endpoint: string; requests: number }>(
      'select endpoint, count(*)::int as requests from usage_records group by endpoint',
      [],
    )
    for (const { endpoint, requests } of byDoor)
      await prometheus.expectValue(`sum(model_proxy_requests_total{endpoint="${endpoint}"})`, requests)
    // The spending of the budgets equals the recorded costs plus the reservations of batches.
    const [spent] = await database.call<{ least: number; most: number; kept: number }>(
      `select min(c.spent + c.reserved)::float8 as least, max(c.spent + c.reserved)::float8 as most,
        (select coalesce(sum(r.amount), 0)::float8 / 2 from budget_reservations r) as kept from budget_periods c`,
      [],
    )
    expect(spent?.least).toBeCloseTo(spent?.most ?? -1, 6)
    expect(spent?.least).toBeGreaterThanOrEqual((sums?.usd ?? 0) + (spent?.kept ?? 0) - 1e-6)
    await prometheus.expectValue('max(model_proxy_budget_remaining_usd{per="day"})', 1000 - (spent?.least ?? 0), 6)
  })

  test('a collector receives a span for each request, with the same dollars and tokens', async () => {
    // Sessions are not traced.
    const records = (await readRecords()).filter(({ endpoint }) => endpoint !== 'realtime')
    const servers = () =>
      collector.spans.filter(({ kind, attributes }) => kind === SERVER && attributes['model_proxy.request.id'])
    await waitUntil(
      () => `${servers().length} of ${records.length} spans`,
      async () => servers().length >= records.length,
    )
    const ids = (each: readonly unknown[]) => each.map(String).toSorted()
    expect(ids(servers().map(({ attributes }) => attributes['model_proxy.request.id']))).toEqual(
      ids(records.map(({ request_id }) => request_id)),
    )
    const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0)
    const attribute = (kind: number, name: string) =>
      sum(collector.spans.filter(span => span.kind === kind).map(({ attributes }) => Number(attributes[name] ?? 0)))
    expect(attribute(SERVER, 'model_proxy.cost_usd')).toBeCloseTo(sum(records.map(({ cost_usd }) => cost_usd)), 6)
    // The usage of a batch does not come from a call of the proxy.
    const called = records.filter(({ endpoint }) => endpoint !== 'batches')
    expect(attribute(CLIENT, 'gen_ai.usage.input_tokens')).toBe(sum(called.map(({ prompt_tokens }) => prompt_tokens)))
    expect(attribute(CLIENT, 'gen_ai.usage.output_tokens')).toBe(sum(called.map(each => each.completion_tokens)))
  })
})
