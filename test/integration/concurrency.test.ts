import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startFakeProvider } from '../fake-provider/server.ts'
import { openAccounts } from '../faults/accounts.ts'
import { type BurstAnswer, sendBurst } from '../faults/burst.ts'
import { type ProxyProcess, startProxyProcess } from '../faults/proxy-process.ts'
import { type Backend, describeBackends, type Stores } from '../harness/backends.ts'
import { ask } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'
import { queriesOf } from '../harness/queries.ts'

interface Service {
  /** The proxies that receive requests in turn. */
  proxies: { baseUrl: string; port: number }[]
  stop(): Promise<void>
}

/** Starts two processes on real stores, or one proxy in this process on embedded ones. */
async function startService({ name }: Backend, stores: Stores, environment: Record<string, string>): Promise<Service> {
  if (name === 'embedded') {
    const proxy = await startProxy({ stores, environment })
    return { proxies: [proxy], stop: () => proxy.stop() }
  }
  const settings = { DATABASE_URL: stores.databaseUrl ?? '', REDIS_URL: stores.redisUrl ?? '', ...environment }
  const proxies: ProxyProcess[] = await Promise.all([startProxyProcess(settings), startProxyProcess(settings)])
  return {
    proxies,
    async stop() {
      for (const proxy of proxies) proxy.signal('SIGTERM')
      await Promise.all(proxies.map(proxy => proxy.ended(10_000)))
    },
  }
}

function makePrompts(count: number): string[] {
  return Array.from({ length: count }, () => `What is ${crypto.randomUUID()}?`)
}

function countByMessage(answers: readonly BurstAnswer[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status, json } of answers) {
    const name = status === 200 ? 'answered' : `${status} ${json?.error?.message}`
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

describeBackends('concurrent requests', backend => {
  let stores: Stores
  let service: Service
  const fakeProvider = duringTests(() => startFakeProvider({ flavour: 'aggregator', keepsRequests: false }))

  beforeAll(async () => {
    stores = await backend.open()
    service = await startService(backend, stores, fakeProvider.environment)
  })
  afterAll(() => service?.stop())

  const accounts = () => openAccounts(stores.database)
  const burst = (key: string, prompts: string[]) =>
    sendBurst(
      service.proxies.map(({ port }) => port),
      key,
      prompts,
    )
  const askEach = (key: string) => Promise.all(service.proxies.map(proxy => ask(proxy, key, makePrompts(1)[0] ?? '')))

  test('1,000 at once with 100 left of the month: 100 are served', async () => {
    const account = await accounts().create({ perMinute: 1_000, perMonth: 1_000 })
    await sql`
      insert into monthly_counters (project_id, key_type, month, requests)
      select id, 'test', current_month(), 900 from projects where name = ${account.project}::text`.execute(
      queriesOf(stores.database),
    )
    const answers = await burst(account.key, makePrompts(1_000))
    expect(countByMessage(answers)).toEqual({ answered: 100, '429 Monthly quota exceeded': 900 })
    for (const { headers } of answers.filter(answer => answer.status === 429)) {
      expect(headers).toMatchObject({ 'x-should-retry': 'false' })
    }
    expect(await accounts().countRequests(account)).toBe(1_000)

    // The 900 rejected requests did not count in the minute: of its 150, 50 are left.
    await accounts().run(
      `update plans set test_requests_per_month = 10000, test_requests_per_minute = 150 where name = '${account.plan}'`,
    )
    const more = countByMessage(await burst(account.key, makePrompts(80)))
    expect(more).toEqual({ answered: 50, '429 Rate limit exceeded': 30 })
  })

  test('300 at once with 60 per minute: 60 are served, and no other is counted', async () => {
    const account = await accounts().createOn('free', 'project')
    const answers = await burst(account.key, makePrompts(300))
    expect(countByMessage(answers)).toEqual({ answered: 60, '429 Rate limit exceeded': 240 })
    for (const { headers } of answers.filter(answer => answer.status === 429)) {
      expect(headers).toMatchObject({ 'x-ratelimit-limit-requests': '60', 'x-ratelimit-remaining-requests': '0' })
      const seconds = Number(headers['retry-after'])
      expect(seconds).toBeGreaterThanOrEqual(1)
      expect(seconds).toBeLessThanOrEqual(61)
      expect(headers['x-ratelimit-reset-requests']).toBe(`${seconds}s`)
    }
    expect(await accounts().countRequests(account)).toBe(60)
  })

  test('300 at once in the rest of a nearly used minute: the rest is served, and only it counts in the month', async () => {
    const account = await accounts().createOn('free', 'project')
    await stores.database.runScript(`
      drop table if exists counts;
      create table counts (project_id bigint, requests bigint);
      create or replace function note_count() returns trigger language plpgsql as
        'begin insert into counts values (new.project_id, new.requests); return null; end';
      create or replace trigger note_count after update on monthly_counters for each row execute function note_count();
    `)
    for (let round = 0; round < 2; round++) {
      for (const { status } of await askEach(account.key)) expect(status).toBe(200)
    }
    const before = 2 * service.proxies.length
    const answers = await burst(account.key, makePrompts(300))
    expect(countByMessage(answers)).toEqual({ answered: 60 - before, '429 Rate limit exceeded': 240 + before })
    await expect.poll(() => accounts().countRequests(account)).toBe(60)
    // Only requests that the minute admits reach the monthly counter.
    const highest = await sql<{ requests: string }>`select max(requests) as requests from counts`.execute(
      queriesOf(stores.database),
    )
    expect(Number(highest.rows[0]?.requests)).toBe(60)
    await stores.database.runScript('drop trigger note_count on monthly_counters')
  })

  test('the same question 200 times at once is served 200 times, and counted as often', async () => {
    const account = await accounts().create()
    const answers = await burst(account.key, new Array(200).fill('What is the same for all?'))
    expect(countByMessage(answers)).toEqual({ answered: 200 })
    expect(new Set(answers.map(({ json }) => json.choices[0].message.content)).size).toBe(1)
    expect(await accounts().countRequests(account)).toBe(200)
  })

  test('a deactivated key is rejected from the next request on', async () => {
    const account = await accounts().create()
    for (let round = 0; round < 3; round++) {
      for (const { status } of await askEach(account.key)) expect(status).toBe(200)
    }
    await sql`select deactivate_key(${account.key})`.execute(queriesOf(stores.database))
    for (const { status, json } of await askEach(account.key)) {
      expect([status, json.error.message]).toEqual([403, 'API key disabled'])
    }
  })

  test('a key deactivated under load serves no request that was sent afterwards', async () => {
    const account = await accounts().create()
    const before = await burst(account.key, makePrompts(20))
    expect(countByMessage(before)).toEqual({ answered: 20 })
    const under = burst(account.key, makePrompts(200))
    await sql`select deactivate_key(${account.key})`.execute(queriesOf(stores.database))
    const after = await burst(account.key, makePrompts(50))
    expect(countByMessage(after)).toEqual({ '403 API key disabled': 50 })
    const answered = countByMessage(await under).answered ?? 0
    expect(await accounts().countRequests(account)).toBe(20 + answered)
  })

  test('a plan’s changed limits, and another plan, apply from the next request on', async () => {
    const account = await accounts().create({ perMinute: 1_000 })
    for (const { status } of await askEach(account.key)) expect(status).toBe(200)
    await accounts().run(`update plans set test_requests_per_minute = 1 where name = '${account.plan}'`)
    for (const { status, headers } of await askEach(account.key)) {
      expect([status, headers.get('x-ratelimit-limit-requests')]).toEqual([429, '1'])
    }
    await sql`select set_plan(${account.project}, 'pro')`.execute(queriesOf(stores.database))
    for (const { status } of await askEach(account.key)) expect(status).toBe(200)
    await accounts().run(`update plans set test_requests_per_month = 0 where name = 'pro'`)
    for (const { json } of await askEach(account.key)) expect(json.error.message).toBe('Monthly quota exceeded')
    await accounts().run(`update plans set test_requests_per_month = 1000 where name = 'pro'`)
    for (const { status } of await askEach(account.key)) expect(status).toBe(200)
  })
})
