/**
 * A thousand concurrent requests through four processes against a budget of one dollar, at every endpoint with a cost. Meanwhile database
 * responses are lost, and one of the processes is killed.
 */

import { beforeAll, expect, test } from 'vitest'
import { callFunction } from '../../src/postgres/call.ts'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import type { RecordedRequest } from '../fake-provider/recording.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import {
  ENDPOINT_CASES,
  type EndpointCase,
  JUDGE,
  MAX_CHAT_TOKENS,
  MAX_CLAUDE_TOKENS,
  PAID_ENDPOINTS,
  PROVIDER_ENDPOINTS,
  sendToEndpoint,
  uploadBatchInput,
} from '../harness/endpoints.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { startCuttingProxy } from './cutting-proxy.ts'
import { describeFaults } from './describe-faults.ts'
import { type ProxyProcess, startProxyProcess } from './proxy-process.ts'
import { startPostgres, startRedis } from './servers.ts'

const PROCESSES = 4
const REQUESTS = 1_000
const DOLLARS = 1
/** The statuses of the errors that end a stream here. Gemini's dialect names the status itself. */
const STATUS_OF_CODE: Record<string, number> = {
  ...{ insufficient_quota: 429, budget_reserved: 429, service_unavailable: 503 },
  ...{ 429: 429, 503: 503 },
}

describeFaults('a budget of one dollar', () => {
  const postgres = duringTests(startPostgres)
  const redis = duringTests(startRedis)
  const upstreams = duringTests(startUpstreams)
  const cutting = duringTests(() => startCuttingProxy(postgres.url))
  const database = duringTests(() => openServerDatabase({ url: postgres.url, maxConnections: 2 }))
  let proxies: ProxyProcess[]

  beforeAll(async () => {
    const environment = { ...upstreams.environment, DATABASE_URL: postgres.url, REDIS_URL: redis.url }
    const first = await startProxyProcess(environment)
    const others = Array.from({ length: PROCESSES - 1 }, (_, n) =>
      startProxyProcess({
        ...environment,
        ...(n === 0 && { DATABASE_URL: cutting.url, DATABASE_MAX_CONNECTIONS: '4' }),
      }),
    )
    proxies = [first, ...(await Promise.all(others))]
  })

  async function stand() {
    const [row] = await database.call<{
      spent: number
      reserved: number
      kept: number
      doubtful: number
      held: number
    }>(
      `select sum(c.spent)::float8 as spent, sum(c.reserved)::float8 as reserved,
        (select coalesce(sum(r.amount), 0)::float8 from budget_reservations r where r.expires_at = 'infinity') as kept,
        (select coalesce(sum(r.amount), 0)::float8 from budget_reservations r where r.doubtful_at is not null) as doubtful,
        (select count(*)::integer from budget_reservations r where r.expires_at < 'infinity') as held from budget_periods c`,
      [],
    )
    return row ?? { spent: 0, reserved: 0, kept: 0, doubtful: 0, held: 0 }
  }

  test('is tried by every route to a provider', () => {
    expect([...new Set(ENDPOINT_CASES.map(({ path }) => path))].toSorted()).toEqual(PROVIDER_ENDPOINTS.toSorted())
  })

  test('is never exceeded at any endpoint, and nothing stays reserved', { timeout: 180_000 }, async () => {
    await database.call(`insert into plans values ('racing', 1000000, 1000000, 1000000, 1000000, 1000000, 10000)`, [])
    await callFunction(database, 'create_project', { project: 'racer', plan: 'racing' })
    const key = await callFunction(database, 'issue_key', { project: 'racer', key_type: 'project', key_name: 'k' })
    for (const provider of ['openai', 'anthropic'] as const) await storeKey({ database }, 'racer', provider, 'sk-own')
    await database.call(`update projects set semantic_judge_model = 'gpt-4o-mini', semantic_judge_daily_usd = 100`, [])
    const authorization = `Bearer ${key}`
    const setBudget = (usd: number) => database.call(`select set_budget('racer', 'usd', ${usd}, 'total')`, [])
    await setBudget(1_000)
    const inputFile = await uploadBatchInput(proxies[0] ?? { baseUrl: '' }, key)

    // Each response costs its upper bound. The first response comes after most requests have arrived.
    let firstByteDelayMs = 0
    upstreams.openai.script(({ method, path, body }: RecordedRequest) => {
      if (method === 'GET') return { kind: 'answer' }
      const { max_tokens = MAX_CHAT_TOKENS } = (body ?? {}) as { max_tokens?: number }
      const usage = path.endsWith('/responses')
        ? { input_tokens: 10, output_tokens: MAX_CHAT_TOKENS }
        : { prompt_tokens: 10, completion_tokens: max_tokens }
      return { kind: 'answer', firstByteDelayMs, usage }
    })
    upstreams.anthropic.script(() => ({
      kind: 'answer',
      firstByteDelayMs,
      usage: { input_tokens: 10, output_tokens: MAX_CLAUDE_TOKENS },
    }))

    async function askAt(target: EndpointCase, n: number): Promise<number> {
      const proxy = proxies[n % PROCESSES]
      if (!proxy) throw new Error('No proxy runs')
      if (target.path === JUDGE.path) {
        // Spreads the reservations, so that they do not all precede the other requests.
        await Bun.sleep((n % 40) * 100)
        const reserve = `select reserve_judgement(id, ${JUDGE.usd}) is not null as is_granted from projects`
        const [row] = await database.call<{ is_granted: boolean }>(reserve, [])
        return row?.is_granted ? 200 : 429
      }
      if (target.path === '/realtime')
        return openSession(`${proxy.baseUrl.replace('http', 'ws')}/realtime?model=gpt-realtime`)
      const response = await sendToEndpoint(proxy, key, target, n, inputFile).catch(() => null)
      const text = await response?.text().catch(() => '')
      // A stream that waited for its reservation has begun with a 200, and ends in its error.
      const code = /"error":\{.*"code":"?(\w+)/.exec(text ?? '')?.[1]
      if (response?.ok && code) return STATUS_OF_CODE[code] ?? 500
      return response?.status ?? 0
    }

    /** A failed WebSocket upgrade does not expose its status, so 400 stands for each failure. */
    function openSession(url: string): Promise<number> {
      return new Promise(resolve => {
        const socket = new WebSocket(url, { headers: { authorization } } as never)
        socket.onopen = () => {
          resolve(200)
          socket.close()
        }
        socket.onclose = () => resolve(400)
      })
    }

    // Each endpoint alone: requests with a cost are charged.
    for (const [n, door] of ENDPOINT_CASES.entries()) {
      const before = await stand()
      expect([door.path, await askAt(door, 100_000 + n * PROCESSES)]).toEqual([
        door.path,
        door.usd === null ? 400 : 200,
      ])
      const what = `${door.path} is charged its cost`
      await waitUntil(what, async () => {
        const { spent, kept, held } = await stand()
        return held === 0 && Math.abs(spent + kept - before.spent - before.kept - (door.usd ?? 0)) < 0.0005
      })
    }

    const before = await stand()
    const [reachedBefore, claudesBefore] = [upstreams.openai.requests.length, upstreams.anthropic.requests.length]
    await setBudget(before.spent + before.reserved + DOLLARS)
    firstByteDelayMs = 3_000
    // The process that is killed starts first, so that it has a request that it never records.
    const door = (n: number) => ENDPOINT_CASES[Math.floor(n / PROCESSES) % ENDPOINT_CASES.length] ?? JUDGE
    const first = askAt(door(0), PROCESSES - 1)
    await waitUntil('its first request arrived', () => upstreams.openai.requests.length > reachedBefore)
    const others = Array.from({ length: REQUESTS }, (_, n) => n).filter(n => n !== PROCESSES - 1)
    const sent = others.map(async n => ({ ...door(n), status: await askAt(door(n), n) }))
    await waitUntil('some requests arrived', () => upstreams.openai.requests.length > reachedBefore + 10)
    cutting.cut()
    proxies.at(-1)?.signal('SIGKILL')
    await waitUntil('database responses are lost', () => cutting.swallowed() > 3)
    cutting.pass()
    const results = await Promise.all(sent)
    await first

    const reached = [
      ...upstreams.openai.requests.slice(reachedBefore),
      ...upstreams.anthropic.requests.slice(claudesBefore),
    ].filter(({ method }) => method === 'POST')
    const costOf = (path: string) => PAID_ENDPOINTS.find(each => path === `/v1${each.path}`)?.usd ?? 0
    const judged = results.filter(({ path, status }) => path === JUDGE.path && status === 200).length
    const cost = reached.reduce((sum, { path }) => sum + costOf(path), judged * (JUDGE.usd ?? 0))
    expect(cost).toBeLessThanOrEqual(DOLLARS)
    expect(cost).toBeGreaterThan(DOLLARS / 4)
    for (const { path, usd } of ENDPOINT_CASES) {
      const statuses = new Set(results.filter(each => each.path === path).map(({ status }) => status))
      const allowed = usd === null ? [400] : usd === 0 ? [200] : [200, 429]
      // 0: from the killed process; 503: from the process whose database responses are lost.
      for (const status of statuses)
        expect([path, [0, 503, ...allowed].includes(status), status]).toEqual([path, true, status])
      if (usd) expect([path, [...statuses]]).toEqual([path, expect.arrayContaining([429])])
    }

    // A process that stops settles all its calls first.
    const living = proxies.slice(0, -1)
    for (const proxy of living) proxy.signal('SIGTERM')
    await Promise.all(living.map(proxy => proxy.ended()))
    const { held } = await stand()
    // Reservations of the killed process remain, because the provider may have responded to its requests.
    expect(held).toBeGreaterThan(0)
    await database.call(
      `update budget_reservations set expires_at = now() - interval '1 second' where expires_at < 'infinity' and doubtful_at is null`,
      [],
    )
    await callFunction(database, 'expire_reservations', {})
    const { spent, reserved, kept, doubtful } = await stand()
    expect(doubtful).toBeGreaterThan(0)
    expect(reserved).toBeCloseTo(kept + doubtful, 9)
    expect(spent + reserved - before.spent - before.reserved).toBeLessThanOrEqual(DOLLARS)
    const answered = results.filter(({ status }) => status === 200).reduce((sum, { usd }) => sum + (usd ?? 0), 0)
    expect(spent + reserved - before.spent - before.reserved).toBeGreaterThan(answered - 1e-6)
  })
})
