/** Usage for tests of the view focus_costs. */
import { callFunction } from '../../src/postgres/call.ts'
import type { Database } from '../../src/postgres/database.ts'
import { recordUsage } from '../../src/postgres/record-usage.ts'
import type { UsageRecord } from '../../src/postgres/usage-record.ts'

const now = Date.now()
/** Today and yesterday in UTC, and days of months in which clocks change. */
const TIMES = [now, now - 86_400_000, Date.UTC(2025, 2, 15), Date.UTC(2025, 9, 15)]

/** Creates two projects with two keys each, and records requests of all kinds of charge. Returns the projects' ids. */
export async function recordFocusUsage(database: Database): Promise<number[]> {
  await callFunction(database, 'maintain_usage_partitions', {})
  const projects: number[] = []
  for (const [place, name] of ['acme', 'other'].entries()) {
    await callFunction(database, 'create_project', { project: name, plan: 'free' })
    for (const key of ['ci', 'web'])
      await callFunction(database, 'issue_key', { project: name, key_type: 'project', key_name: `${key}${place}` })
    projects.push(await callFunction(database, 'find_project', { project: name }))
  }
  const keys = await database.call<{ id: number; project_id: number }>(
    'select id::integer as id, project_id::integer as project_id from api_keys order by id',
    [],
  )
  const records = keys.flatMap(({ id: key_id, project_id }) =>
    TIMES.flatMap(time => {
      const record = (n: number, changes: Partial<UsageRecord>): UsageRecord => ({
        recorded_at: new Date(time).toISOString(),
        ...{ project_id, key_id, request_id: crypto.randomUUID(), status: 200, endpoint: 'chat', model: 'gpt-4o' },
        ...{
          provider: 'openai',
          cache_result: 'MISS',
          streamed: false,
          prompt_tokens: 10 * n,
          cached_prompt_tokens: n,
        },
        ...{ completion_tokens: n, tokens_saved: 0, cost_usd: key_id * n, saved_usd: 0, latency_ms: 1, duration_ms: 1 },
        ...changes,
      })
      const free = { prompt_tokens: 0, cached_prompt_tokens: 0, completion_tokens: 0, cost_usd: 0 }
      return [
        record(1, {}),
        record(2, { cost_estimated: 'client_left' }),
        record(3, { model: 'claude-x', provider: 'anthropic', endpoint: 'messages' }),
        record(4, { endpoint: 'embeddings', model: 'embed' }),
        record(5, { ...free, cache_result: 'HIT', saved_usd: 7, tokens_saved: 11 }),
        record(5, { ...free, cache_result: 'HIT', saved_usd: 3, model: 'hits-only' }),
        record(6, { ...free, cost_usd: 0.04, endpoint: 'images/generations', model: 'image-1' }),
        // A provider that no vendor describes, and none.
        record(7, { provider: 'elsewhere' }),
        record(8, { provider: null, cache_result: null }),
        // Rejected before a provider was chosen: no charge.
        record(9, { ...free, provider: null, cache_result: null, status: 429, model: 'rejected' }),
      ]
    }),
  )
  await recordUsage(database, records, crypto.randomUUID())
  return projects
}
