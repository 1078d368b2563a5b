/** Two workers and an OpenTelemetry collector. The sums of the spans equal the recorded usage. */
import { expect, test } from 'vitest'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { question } from '../harness/chat.ts'
import { ask } from '../harness/client.ts'
import { startCollector } from '../harness/collector.ts'
import { duringTests } from '../harness/during-tests.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { openAccounts } from './accounts.ts'
import { describeFaults } from './describe-faults.ts'
import { startProxyProcess } from './proxy-process.ts'
import { startPostgres, startRedis } from './servers.ts'

describeFaults('OpenTelemetry with WORKERS=2', () => {
  const postgres = duringTests(startPostgres)
  const redis = duringTests(startRedis)
  const collector = duringTests(startCollector)
  const team = duringTests(() =>
    startProxyProcess({
      DATABASE_URL: postgres.url,
      REDIS_URL: redis.url,
      WORKERS: '2',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    }),
  )
  const database = duringTests(() => openServerDatabase({ url: postgres.url, maxConnections: 2 }))

  /** Returns the sum over all spans with this attribute. */
  function sumOf(attribute: string): number {
    return collector.spans.reduce((sum, { attributes }) => sum + Number(attributes[attribute] ?? 0), 0)
  }

  test('exports each request once: hits, misses, streams, followers and rejections, until the process ends', async () => {
    const { key } = await openAccounts(database).create()
    const send = (index: number) =>
      ask(team, key, question(`Question ${index % 12}?`, { stream: index % 3 === 0 }), { connection: 'close' })
    const answers = await Promise.all(Array.from({ length: 60 }, (_, index) => send(index)))
    for (const { status } of answers) expect(status).toBe(200)
    const refused = await Promise.all(Array.from({ length: 5 }, () => ask(team, 'lgw_proj_no', 'Who?')))
    for (const { status } of refused) expect(status).toBe(401)
    team.signal('SIGTERM')
    expect(await team.ended()).toBe(0)
    const servers = collector.spans.filter(({ kind }) => kind === 2)
    expect(servers).toHaveLength(65)
    expect(new Set(servers.map(({ resource }) => resource['service.instance.id'])).size).toBe(2)
    await waitUntil('all are recorded', async () => (await records()).requests === 60)
    const { misses, input, output, saved } = await records()
    expect(collector.spans.filter(({ kind }) => kind === 3)).toHaveLength(misses)
    expect(sumOf('gen_ai.usage.input_tokens')).toBe(input)
    expect(sumOf('gen_ai.usage.output_tokens')).toBe(output)
    expect(sumOf('model_proxy.cache.saved_tokens')).toBe(saved)
    const ids = servers.flatMap(({ attributes }) => attributes['model_proxy.request.id'] ?? [])
    expect(new Set(ids).size).toBe(60)
  })

  async function records() {
    const [sums] = await database.call<Record<'requests' | 'misses' | 'input' | 'output' | 'saved', number>>(
      `select count(*)::int as requests, count(*) filter (where cache_result = 'MISS')::int as misses,
          sum(prompt_tokens)::int as input, sum(completion_tokens)::int as output, sum(tokens_saved)::int as saved
      from usage_records`,
      [],
    )
    if (!sums) throw new Error('no sums')
    return sums
  }
})
