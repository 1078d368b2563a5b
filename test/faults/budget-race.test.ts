/** A thousand requests at once over four processes, at several doors, against one dollar: and one of the processes is killed. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../../src/postgres/database.ts'
import { createProject, issueKey } from '../../src/postgres/projects.ts'
import { openRealDatabase } from '../../src/postgres/real.ts'
import { presumeExpiredSpending } from '../../src/postgres/spending.ts'
import { post } from '../harness/client.ts'
import { startUpstreams, storeKey, type Upstreams } from '../harness/direct-upstreams.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { describeFaults } from './describe-faults.ts'
import { type ProxyProcess, startProxyProcess } from './proxy-process.ts'
import { type PrivateServer, startPostgres, startRedis } from './servers.ts'

const PROCESSES = 4
const REQUESTS = 1_000
const DOLLARS = 1
/** At 0.6 US dollars a million, an answer of this length costs a cent: a hundred fit. */
const MOST_TOKENS = 16_384

const DOORS: readonly ((n: number) => [path: string, body: Record<string, unknown>])[] = [
  (n: number) => [
    '/chat/completions',
    { messages: [{ role: 'user', content: `Number ${n}?` }], max_tokens: MOST_TOKENS },
  ],
  (n: number) => [
    '/chat/completions',
    { messages: [{ role: 'user', content: `${n}?` }], max_tokens: MOST_TOKENS, stream: true },
  ],
  (n: number) => ['/responses', { input: `Number ${n}?`, max_output_tokens: MOST_TOKENS }],
]

describeFaults('a budget of one dollar', () => {
  let postgres: PrivateServer
  let redis: PrivateServer
  let upstreams: Upstreams
  let proxies: ProxyProcess[]
  let database: Database

  beforeAll(async () => {
    ;[postgres, redis, upstreams] = await Promise.all([startPostgres(), startRedis(), startUpstreams()])
    const environment = { ...upstreams.environment, DATABASE_URL: postgres.url, REDIS_URL: redis.url }
    const first = await startProxyProcess(environment)
    proxies = [
      first,
      ...(await Promise.all(Array.from({ length: PROCESSES - 1 }, () => startProxyProcess(environment)))),
    ]
    database = openRealDatabase({ url: postgres.url, maxConnections: 2 })
  })
  afterAll(async () => {
    await database?.close()
    await upstreams?.stop()
    await Promise.all([postgres?.remove(), redis?.remove()])
  })

  async function stand() {
    const [row] = await database.call<{ spent: number; reserved: number; recorded: number }>(
      `select sum(c.spent)::float8 as spent, sum(c.reserved)::float8 as reserved,
        (select coalesce(sum(cost_usd), 0)::float8 from usage_records) as recorded from budget_periods c`,
      [],
    )
    return row ?? { spent: 0, reserved: 0, recorded: 0 }
  }

  test('is never exceeded, and nothing stays reserved', async () => {
    await database.call(`insert into plans values ('racing', 1000000, 1000000, 1000000, 1000000, 1000000, 10000)`, [])
    await createProject(database, 'racer', 'racing')
    const key = await issueKey(database, 'racer', 'project', 'k')
    await storeKey({ database }, 'racer', 'openai', 'sk-own')
    await database.call(`select set_budget('racer', 'usd', ${DOLLARS}, 'total')`, [])
    // Every answer costs all that it may; none comes before most have asked.
    upstreams.openai.script({
      kind: 'answer',
      firstByteDelayMs: 3_000,
      usage: { prompt_tokens: 10, completion_tokens: MOST_TOKENS },
    })
    const askOne = async (n: number) => {
      const [path, body] = DOORS[n % DOORS.length]?.(n) ?? ['/', {}]
      const proxy = proxies[n % PROCESSES] ?? proxies[0]
      if (!proxy) throw new Error('No proxy runs')
      const response = await post(proxy, key, path, { model: 'gpt-4o-mini', service_tier: 'default', ...body }).catch(
        () => null,
      )
      await response?.text().catch(() => '')
      return response?.status ?? 0
    }
    // The process that is killed begins, so that it has asked for something that it never records.
    const first = askOne(PROCESSES - 1)
    await waitUntil('it has asked', 60_000, () => upstreams.openai.requests.length > 0)
    const others = Array.from({ length: REQUESTS }, (_, n) => n).filter(n => n !== PROCESSES - 1)
    const asked = [first, ...others.map(askOne)]
    await waitUntil('some are asked', 60_000, () => upstreams.openai.requests.length > 10)
    proxies.at(-1)?.signal('SIGKILL')
    const statuses = await Promise.all(asked)

    const reached = upstreams.openai.requests.length
    expect(reached * MOST_TOKENS * 0.6e-6).toBeLessThanOrEqual(DOLLARS)
    expect(statuses.filter(status => status === 200).length).toBeGreaterThan(10)
    expect(statuses.filter(status => status === 200).length).toBeLessThanOrEqual(reached)
    await waitUntil('what was answered is recorded', 30_000, async () => {
      const { spent, recorded } = await stand()
      return recorded > 0 && Math.abs(spent - recorded) < 1e-6
    })
    expect((await stand()).spent).toBeLessThanOrEqual(DOLLARS)
    // Of the process that was killed.
    await database.call(`update budget_reservations set expires_at = now() - interval '1 second'`, [])
    await presumeExpiredSpending(database)
    // What it asked for may have been answered: it is not asked for once more.
    const { spent, reserved, recorded } = await stand()
    expect(reserved).toBeCloseTo(0, 9)
    expect(spent).toBeGreaterThan(recorded)
    expect(spent).toBeLessThanOrEqual(DOLLARS)
  })
})
