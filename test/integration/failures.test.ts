/**
 * Work that fails without a client seeing it is counted, logged, and degrades health until it succeeds again. Each part is broken from
 * outside.
 */
import { beforeAll, expect, test } from 'vitest'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { describeBackends } from '../harness/backends.ts'
import { ask, get } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { addUser, issueAdminKey, logIn, send } from './admin/people.ts'
import { createMemoryLog } from './hostile/memory-log.ts'

interface Part {
  /** The SQL function that is broken. `what` is the failure that must be reported. */
  name: string
  what: string
  /** Makes the proxy call the function. Loops call it by themselves. */
  use?: () => Promise<unknown>
}

describeBackends('failures', backend => {
  const metrics = createMetrics()
  const log = createMemoryLog()
  const proxy = duringTests(() =>
    startProxy({ stores: backend.open(), dashboard: true, metrics, log, maintenanceEveryMs: 20 }),
  )
  let key: string
  let adminKey: string
  let questions = 0
  const askNew = () => ask(proxy, key, `What is the square of ${++questions}?`)
  const readProjects = () =>
    send(proxy, 'GET', '/v1/organization/projects', { headers: { authorization: `Bearer ${adminKey}` } })

  beforeAll(async () => {
    key = await proxy.createKey()
    await addUser(proxy, 'root@example.org', 'owner')
    adminKey = await issueAdminKey(proxy, 'root@example.org')
  })

  const readHealth = async () => (await get(proxy, '/health')).json() as Promise<{ status: string; failing: string[] }>
  const isWell = async () => (await readHealth()).status === 'ok'
  const countOf = (what: string) =>
    metrics
      .snapshot()
      .find(({ name }) => name === 'model_proxy_failures_total')
      ?.series.find(({ labels }) => labels[0] === what)?.value
  const signatureOf = async (name: string) => {
    const rows = await proxy.query<{ takes: string; defaults: string; gives: string }>(
      `select pg_get_function_identity_arguments(oid) as takes, pg_get_function_arguments(oid) as defaults,
          pg_get_function_result(oid) as gives
      from pg_proc where proname = '${name}' and pronamespace = 'model_proxy'::regnamespace`,
    )
    if (!rows[0]) throw new Error(`the database has no function ${name}`)
    return rows[0]
  }

  /** Ways to break a function. Each returns a function that repairs it. */
  const BREAKS: Record<string, (name: string) => Promise<() => Promise<unknown>>> = {
    async 'is gone'(name) {
      const { takes } = await signatureOf(name)
      await proxy.query(`alter function model_proxy.${name}(${takes}) rename to gone`)
      return () => proxy.query(`alter function model_proxy.gone(${takes}) rename to ${name}`)
    },
    async raises(name) {
      const { takes, defaults, gives } = await signatureOf(name)
      await proxy.query(`alter function model_proxy.${name}(${takes}) rename to gone`)
      await proxy.query(
        `create function model_proxy.${name}(${defaults}) returns ${gives} language plpgsql as $$ begin raise exception 'broken'; end $$`,
      )
      return async () => {
        await proxy.query(`drop function model_proxy.${name}(${takes})`)
        await proxy.query(`alter function model_proxy.gone(${takes}) rename to ${name}`)
      }
    },
  }

  const PARTS: Part[] = [
    { name: 'search_cache', what: 'lookup', use: askNew },
    { name: 'store_cached_responses', what: 'store', use: askNew },
    { name: 'record_usage', what: 'record', use: askNew },
    { name: 'roll_up_usage', what: 'sums' },
    { name: 'claim_deliveries', what: 'deliveries' },
    { name: 'expire_reservations', what: 'sweep' },
    { name: 'raise_due_events', what: 'events' },
    { name: 'admit', what: 'database', use: askNew },
  ]
  const CASES = PARTS.flatMap(part => Object.keys(BREAKS).map(how => ({ ...part, how })))

  test.each(CASES)('$what: counted, logged and degraded while $name $how, and ok afterwards', async part => {
    const { name, what, how, use = async () => {} } = part
    await use()
    await waitUntil('health is ok', isWell)
    const before = countOf(what) ?? Number.NaN
    log.take()
    const repair = await BREAKS[how]?.(name)
    try {
      await use()
      await waitUntil(`${what} is reported`, async () => (await readHealth()).failing.includes(what))
      expect((await readHealth()).status).toBe('degraded')
      expect(countOf(what)).toBeGreaterThan(before)
      expect(log.take().some(line => line.includes(`"what":"${what}"`))).toBe(true)
    } finally {
      await repair?.()
    }
    await use()
    await waitUntil('health is ok again', isWell)
  })

  test('dashboard: a missing right in the database is a failure, not a rejection of the user', async () => {
    expect((await readProjects()).status).toBe(200)
    await proxy.query('revoke select on model_proxy.projects from model_proxy_dashboard')
    try {
      expect((await readProjects()).status).toBe(500)
      expect(await readHealth()).toMatchObject({ status: 'degraded', failing: ['dashboard'] })
      expect(log.take().join('')).toContain('permission denied for table projects')
    } finally {
      await proxy.query('select model_proxy.ensure_dashboard_role()')
    }
    expect((await readProjects()).status).toBe(200)
    expect((await readHealth()).status).toBe('ok')
  })

  test('what a user may not do, and what does not exist, is no failure', async () => {
    const before = countOf('dashboard')
    await addUser(proxy, 'reader@example.org', 'reader')
    const reader = await logIn(proxy, 'reader@example.org')
    expect((await reader.send('POST', '/v1/organization/projects', { name: 'acme' })).status).toBe(403)
    const missing = await send(proxy, 'GET', '/v1/organization/projects/proj_999999', {
      headers: { authorization: `Bearer ${adminKey}` },
    })
    expect(missing.status).toBe(404)
    expect(countOf('dashboard')).toBe(before)
  })
})
