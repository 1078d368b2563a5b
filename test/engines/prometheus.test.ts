/** A real Prometheus that scrapes two workers. Its totals equal the records. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findFreePort } from '../../scripts/bench/processes.ts'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { openAccounts } from '../faults/accounts.ts'
import { startProxyProcess } from '../faults/proxy-process.ts'
import { startPostgres, startRedis } from '../faults/servers.ts'
import { ask, post } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { describeEngines } from './engines.ts'
import { startPrometheus } from './start-prometheus.ts'

const ROOT = join(import.meta.dirname, '../..')

describeEngines('Prometheus', ['prometheus', 'promtool'], () => {
  const metricsPort = findFreePort()
  const token = 'a-scraper-knows-it'
  const postgres = duringTests(startPostgres)
  const redis = duringTests(startRedis)
  const team = duringTests(() =>
    startProxyProcess({
      DATABASE_URL: postgres.url,
      REDIS_URL: redis.url,
      WORKERS: '2',
      METRICS_PORT: String(metricsPort),
      METRICS_TOKEN: token,
    }),
  )
  const database = duringTests(() => openServerDatabase({ url: postgres.url, maxConnections: 2 }))
  const accounts = openAccounts(database)
  const prometheus = duringTests(() => startPrometheus(metricsPort, token, [join(ROOT, 'docs/metrics/alerts.yml')]))

  const resultOf = (expression: string) => prometheus.resultOf(expression)
  const expectValue = (expression: string, value: number) => prometheus.expectValue(expression, value)

  test('one scrape covers both workers, and its sums are those of the records', async () => {
    const { key } = await accounts.create()
    const prompts = Array.from({ length: 40 }, (_, index) => `Question number ${index % 10}?`)
    for (const question of prompts) expect((await ask(team, key, question)).status).toBe(200)
    await expectValue('sum(model_proxy_requests_total)', prompts.length)
    await waitUntil('all are recorded', async () => {
      const rows = await database.call<{ count: number }>('select count(*)::int as count from usage_records', [])
      return rows[0]?.count === prompts.length
    })
    const [sums] = await database.call<{ hits: number; output: number; saved: number }>(
      `select count(*) filter (where cache_result = 'HIT')::int as hits, sum(completion_tokens)::int as output,
          sum(tokens_saved)::int as saved
      from usage_records`,
      [],
    )
    await expectValue('sum(model_proxy_requests_total{cache="HIT",status="200"})', sums?.hits ?? -1)
    await expectValue('sum(model_proxy_tokens_total{direction="output"})', sums?.output ?? -1)
    await expectValue('sum(model_proxy_tokens_total{direction="saved"})', sums?.saved ?? -1)
    await expectValue('sum(model_proxy_request_duration_seconds_count)', prompts.length)
    await expectValue('count(model_proxy_store_duration_seconds_count{store="redis",call="count"})', 1)
  })

  test('includes reachable stores and verdicts on hits', async () => {
    await expectValue('sum by (store) (model_proxy_stores_up{store="postgres"})', 2)
    await expectValue('sum by (store) (model_proxy_stores_up{store="redis"})', 2)
    const { key } = await accounts.create()
    await database.call(`update projects set cache_feedback = 'any'`, [])
    await ask(team, key, 'What is the capital of France?')
    const served = await ask(team, key, 'Please, what is the capital of France?')
    expect(served.cache).toBe('HIT-SEMANTIC')
    const feedback = { request_id: served.headers.get('x-request-id'), verdict: 'wrong' }
    await waitUntil(
      'the verdict is recorded',
      async () => (await post(team, key, '/cache/feedback', feedback)).status === 200,
    )
    await expectValue('sum(model_proxy_verdicts_total{by="person",verdict="different"})', 1)
  })

  test('keeps the counts of a worker that dies', async () => {
    const workers = Bun.spawnSync(['pgrep', '-P', String(team.pid)])
      .stdout.toString()
      .trim()
      .split('\n')
    const before = (await resultOf('sum(model_proxy_requests_total)')) ?? 0
    process.kill(Number(workers[0]), 'SIGKILL')
    await waitUntil('the worker is replaced', () => team.output().includes('a worker ended; it is replaced'))
    const { key } = await accounts.create()
    // Until the system has ended the killed worker, it can still accept a connection.
    await waitUntil('a request succeeds', async () =>
      ask(team, key, 'Anybody there?').then(
        ({ status }) => status === 200,
        () => false,
      ),
    )
    await waitUntil(
      'the request is counted',
      async () => ((await resultOf('sum(model_proxy_requests_total)')) ?? 0) > before,
    )
  })

  test('requires the token, and promtool reports no problems', async () => {
    const url = `http://127.0.0.1:${metricsPort}/metrics`
    expect((await fetch(url)).status).toBe(401)
    expect((await fetch(url, { headers: { authorization: 'Bearer guessed' } })).status).toBe(401)
    const text = await (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).text()
    const checked = Bun.spawnSync(['promtool', 'check', 'metrics'], { stdin: new TextEncoder().encode(text) })
    expect(checked.stdout.toString() + checked.stderr.toString()).toBe('')
    expect(text).not.toMatch(/lgw_|Question/)
    const rules = Bun.spawnSync(['promtool', 'check', 'rules', join(ROOT, 'docs/metrics/alerts.yml')])
    expect(rules.exitCode).toBe(0)
  })
})
