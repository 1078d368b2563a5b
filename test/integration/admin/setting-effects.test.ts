/** What other settings would have changed in the last week, compared with the records and with plain SQL. */
import { beforeAll, expect, test } from 'vitest'
import type { SettingEffects } from '../../../src/dashboard/pages/types.ts'
import { recordUsage } from '../../../src/postgres/record-usage.ts'
import type { UsageRecord } from '../../../src/postgres/usage-record.ts'
import { describeBackends } from '../../harness/backends.ts'
import { duringTests } from '../../harness/during-tests.ts'
import { startProxy } from '../../harness/proxy.ts'
import { addUser, type Browser, logIn } from './people.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** A request: hours before now, question, key, end user, result, reason. A hit saves $1, a miss costs $2. */
type Row = [hoursAgo: number, question: string, key: 'a' | 'b', user: string | null, result: string, reason?: string]

/** The default: shared by the whole project, for seven days. */
const ROWS: readonly Row[] = [
  // Cached before the week, and served within it.
  [200, 'q1', 'a', null, 'MISS'],
  [160, 'q1', 'a', null, 'HIT'],
  [159.5, 'q1', 'b', null, 'HIT'],
  // Expired: paid for again after eight days.
  [240, 'q2', 'a', null, 'MISS'],
  [40, 'q2', 'a', null, 'MISS'],
  // Another key, within the hour; the third follows the second.
  [30, 'q3', 'a', null, 'MISS'],
  [29.5, 'q3', 'b', null, 'HIT'],
  [29.4, 'q3', 'b', null, 'HIT'],
  // End users of one key.
  [20, 'q4', 'a', 'alice', 'MISS'],
  [19.9, 'q4', 'a', 'bob', 'HIT'],
  [19.8, 'q4', 'a', 'alice', 'HIT'],
  // Renewed: with an hour, the third is paid for, and the fourth served from it.
  [10, 'q5', 'a', null, 'MISS'],
  [9.5, 'q5', 'a', null, 'HIT'],
  [8.8, 'q5', 'a', null, 'HIT'],
  [8.1, 'q5', 'a', null, 'HIT'],
  // Semantic hits: the second of q6 follows an identical request.
  [6, 'q6', 'a', null, 'HIT-SEMANTIC', 'verified'],
  [5, 'q6', 'a', null, 'HIT-SEMANTIC', 'verified'],
  [4, 'q7', 'a', null, 'HIT-SEMANTIC', 'normalized'],
  // Never explained, and never counted: hits without a known response, a second payment within the time to live, and requests that forbid a hit.
  [3, 'q8', 'a', null, 'HIT'],
  [2.9, 'q8', 'a', null, 'HIT'],
  [1.9, 'q10', 'a', null, 'MISS'],
  [1.8, 'q10', 'a', null, 'MISS'],
  [240, 'q11', 'a', null, 'MISS'],
  [39, 'q11', 'a', null, 'MISS', 'no-store'],
  [2, 'q5', 'a', null, 'MISS', 'no-store'],
]

describeBackends('effects of other settings', backend => {
  const proxy = duringTests(() => startProxy({ dashboard: true, stores: backend.open() }))
  let browser: Browser
  let project: number
  /** Has the same requests, which are never counted. */
  let elsewhere: number

  const read = async (): Promise<SettingEffects> =>
    (await browser.send('GET', `/v1/organization/projects/proj_${project}/settings/effects`)).json
  const effectsOf = async (setting: string) =>
    Object.fromEntries(
      (await read()).effects
        .filter(effect => effect.setting === setting)
        .map(({ value, hits, saved_usd }) => [value, [hits, saved_usd]]),
    )
  const set = (setting: string, value: string) => proxy.query(`select set_setting('past', '${setting}', '${value}')`)

  async function record(rows: readonly Row[], of = project): Promise<void> {
    const keys = await proxy.query<{ id: number; name: string }>(
      `select id::integer, name from api_keys where project_id = ${of}`,
    )
    const records = rows.map(([hoursAgo, question, key, user, result, reason], at) => ({
      recorded_at: new Date(Date.now() - hoursAgo * HOUR).toISOString(),
      request_id: `r-${at}`,
      project_id: of,
      key_id: keys.find(each => each.name === key)?.id ?? 0,
      ...{ status: 200, endpoint: 'chat', model: 'gpt-4o-mini', provider: 'openai', streamed: false },
      ...{ cache_result: result, cache_reason: reason, asked_id: question, lookup_ms: 1 },
      ...(user !== null && { end_user: user }),
      ...{ prompt_tokens: 1, cached_prompt_tokens: 0, completion_tokens: 1, tokens_saved: 0 },
      ...{ cost_usd: result === 'MISS' ? 2 : 0, saved_usd: result === 'MISS' ? 0 : 1, latency_ms: 1, duration_ms: 1 },
    })) as unknown as UsageRecord[]
    await recordUsage(proxy.stores.database, records, crypto.randomUUID())
  }

  beforeAll(async () => {
    await addUser(proxy, 'root@example.org', 'owner')
    for (const name of ['past', 'elsewhere']) {
      await proxy.query(`select create_project('${name}', 'pro')`)
      await proxy.query(`select issue_key('${name}', 'project', name) from unnest(array['a', 'b']) as name`)
    }
    const [ids] = await proxy.query<{ one: number; other: number }>(
      `select find_project('past')::integer as one, find_project('elsewhere')::integer as other`,
    )
    ;[project, elsewhere] = [ids?.one ?? 0, ids?.other ?? 0]
    await record(ROWS, elsewhere)
    browser = await logIn(proxy, 'root@example.org')
  })

  test('are none without requests', async () => {
    expect(await read()).toMatchObject({ effects: [], requested_models: [] })
  })

  test('without a cache, every hit would have been paid for', async () => {
    await record(ROWS)
    const [plain] = await proxy.query<{ hits: number; saved: number }>(
      `select -count(*)::integer as hits, -sum(saved_usd)::float as saved from usage_records
       where project_id = ${project} and cache_result like 'HIT%' and recorded_at >= now() - interval '7 days'`,
    )
    expect(await effectsOf('cache_mode')).toEqual({ off: [plain?.hits, plain?.saved] })
    await set('cache_mode', 'off')
    expect(await effectsOf('cache_mode')).toEqual({})
    await set('cache_mode', 'all')
  })

  test('a narrower scope loses the hits of other callers', async () => {
    // b’s first request for q1 and q3; bob’s for q4 shares its key. Among end users, bob’s is lost, too.
    expect(await effectsOf('cache_scope')).toEqual({ key: [-2, -2], user: [-3, -3] })
  })

  test('a shorter time to live loses later hits, and a longer one answers expired questions', async () => {
    // An hour: the first of q1, which renews it for the second, and the third request of q5. A day: the first of q1.
    expect(await effectsOf('cache_ttl_seconds')).toEqual({ '3600': [-2, -2], '86400': [-1, -1], '2592000': [1, 2] })
  })

  test('without semantic hits, only identical questions are answered', async () => {
    expect(await effectsOf('semantic_mode')).toEqual({ shadow: [-2, -2], off: [-2, -2] })
    expect(await effectsOf('semantic_policy')).toEqual({ proved: [-1, -1] })
  })

  test('a wider scope answers questions that were paid for by others', async () => {
    await set('cache_scope', 'key')
    await record([
      [1, 'q9', 'a', null, 'MISS'],
      [0.5, 'q9', 'b', null, 'MISS'],
    ])
    expect((await effectsOf('cache_scope')).project).toEqual([1, 2])
    await set('cache_scope', 'project')
  })

  test('shadow hits are those that semantic hits would have answered', async () => {
    await set('semantic_mode', 'shadow')
    await proxy.query(`select set_setting('elsewhere', 'semantic_mode', 'shadow')`)
    await proxy.query(
      `insert into semantic_hits (project_id, request_id, asked_hash, entry_hash, reason, similarity, is_shadow, prompt_tokens, completion_tokens, saved_usd)
       select p, 's-' || n, sha256('a'), sha256('b'), 'verified', 0.99, n < 3, 1, 1, 0.5 from generate_series(1, 3) n, unnest(array[${project}, ${elsewhere}]) p`,
    )
    const [plain] = await proxy.query<{ hits: number; saved: number }>(
      `select count(*)::integer as hits, sum(saved_usd)::float as saved from semantic_hits where project_id = ${project} and is_shadow`,
    )
    expect(await effectsOf('semantic_mode')).toEqual({ on: [plain?.hits, plain?.saved] })
    await set('semantic_mode', 'on')
  })

  test('count the requested models', async () => {
    const [plain] = await proxy.query<{ requests: number }>(
      `select count(*)::integer as requests from usage_records where project_id = ${project} and recorded_at >= now() - interval '${(7 * DAY) / HOUR} hours'`,
    )
    expect((await read()).requested_models).toEqual([{ model: 'gpt-4o-mini', requests: plain?.requests }])
  })
})
