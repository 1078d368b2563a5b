import { expect, test } from 'vitest'
import { createRateLimiter } from '../../src/admission/rate-limiter.ts'
import { callFunction, callFunctionForRow } from '../../src/postgres/call.ts'
import type { Database } from '../../src/postgres/database.ts'
import { createFallbackStore } from '../../src/stores/fallback-store.ts'
import type { FastStore } from '../../src/stores/fast-store.ts'
import { createInProcessStore } from '../../src/stores/in-process-store.ts'
import { describeBackends } from '../harness/backends.ts'

const LIMIT = 10
const SECOND = 1_700_000_000

describeBackends('a key’s minute while a process is without Redis', backend => {
  async function openKey() {
    const { database } = await backend.open()
    await callFunction(database, 'create_project', { project: 'acme', plan: 'pro' })
    await callFunction(database, 'issue_key', { project: 'acme', key_type: 'project', key_name: 'ci' })
    const [key] = await database.call<{ id: number; project_id: number }>('select id, project_id from api_keys', [])
    const { id: keyId = 0, project_id: projectId = 0 } = key ?? {}
    const count = async (requests: number, second: number, inRedis: number[] | null) =>
      (
        await callFunctionForRow(database, 'count_minute_requests', {
          of_project: projectId,
          of_key: keyId,
          requested: requests,
          max_requests: LIMIT,
          at_second: second,
          in_redis: inRedis ?? [],
          without_redis: inRedis === null,
        })
      )?.granted
    return {
      database,
      projectId,
      keyId,
      withoutRedis: (requests: number, second = SECOND) => count(requests, second, null),
      /** `inRedis`: the counts of the seconds up to this one. The last includes the batch. */
      withRedis: (requests: number, inRedis: number[], second = SECOND) => count(requests, second, inRedis),
    }
  }

  test('is the sum of what was admitted without Redis and of what Redis has', async () => {
    const { withoutRedis, withRedis } = await openKey()
    expect(await withoutRedis(3)).toBe(3)
    expect(await withRedis(4, [2, 4])).toBe(4)
    expect(await withoutRedis(5)).toBe(1)
    expect(await withRedis(2, [2, 6])).toBe(0)
    expect(await withoutRedis(1, SECOND + 59)).toBe(0)
    // The count of the second before has expired.
    expect(await withoutRedis(9, SECOND + 60)).toBe(2)
    expect(await withoutRedis(9, SECOND + 61)).toBe(8)
  })

  test('starts again if the clock of Redis stepped back, but not if two processes read it differently', async () => {
    const { withoutRedis, withRedis } = await openKey()
    expect(await withoutRedis(6)).toBe(6)
    expect(await withoutRedis(9, SECOND - 5)).toBe(4)
    expect(await withRedis(1, [1], SECOND - 10)).toBe(0)
    expect(await withoutRedis(9, SECOND - 3_600)).toBe(9)
    expect(await withoutRedis(9, SECOND - 3_600)).toBe(1)
  })

  test('keeps the highest count that any process saw in Redis in a second, in whatever order they report it', async () => {
    const { withoutRedis, withRedis } = await openKey()
    expect(await withoutRedis(1)).toBe(1)
    expect(await withRedis(2, [2, 4])).toBe(2)
    // This count is older than the previous one, and arrives late.
    expect(await withRedis(1, [2, 3])).toBe(1)
    expect(await withoutRedis(LIMIT)).toBe(3)
  })

  test('includes counts of every process for a former value of the key', async () => {
    const { database, keyId, withoutRedis } = await openKey()
    await database.call(`select rotate_key(${keyId}, interval '1 hour')`, [])
    await withoutRedis(1)
    const [row] = await database.call<{ marked: number }>(
      'select count(minute_counted_until)::integer as marked from resolved_keys',
      [],
    )
    expect(row?.marked).toBe(2)
  })

  test('marks the key, and its counts begin with what is recorded', async () => {
    const { database, projectId, keyId, withoutRedis, withRedis } = await openKey()
    const marked = async () =>
      (
        await database.call<{ seconds: number }>(
          `select round(minute_counted_until - extract(epoch from now()))::integer as seconds from resolved_keys`,
          [],
        )
      )[0]?.seconds
    expect(await marked()).toBeNull()
    await database.runScript(`
      select maintain_usage_partitions();
      insert into usage_records (recorded_at, request_id, project_id, key_id, endpoint, model, status, streamed, prompt_tokens,
        cached_prompt_tokens, completion_tokens, tokens_saved, cost_usd, saved_usd, latency_ms, duration_ms)
      select now() - age, 'r', ${projectId}, ${keyId}, 'chat', 'm', 200, false, 0, 0, 0, 0, 0, 0, 1, 1
      from unnest(array['1 s', '5 s', '30 s', '5 min']::interval[]) as age`)
    expect(await withoutRedis(9)).toBe(7)
    expect(await marked()).toBe(150)
    // Redis has counted those three, and no other.
    expect(await withRedis(1, [3, 1])).toBe(0)
    expect(await withRedis(1, [2, 1], SECOND + 1)).toBe(0)
  })

  test('is requested by a process while the key is marked, and rejected requests are removed from the windows', async () => {
    const { database, projectId, keyId } = await openKey()
    let isGone = false
    const failing: Database = {
      ...database,
      call: (text, ...more) => (isGone ? Promise.reject(new Error('gone')) : database.call(text, ...more)),
    }
    const windows = createRateLimiter(createInProcessStore(), failing)
    const ask = (until: number | null) =>
      windows.count({
        resolvedKey: {
          project_id: projectId,
          key_id: keyId,
          requests_per_minute: LIMIT,
          requests_per_minute_per_address: LIMIT,
          minute_counted_until: until,
        },
        address: '192.0.2.7',
        entry: null,
      })
    const nowSeconds = Date.now() / 1_000
    const [marked, over] = [nowSeconds + 600, nowSeconds - 600]
    const counted = await Promise.all([marked, over, null].map(ask))
    expect(counted.map(each => each.isGranted && each.isInDatabase)).toEqual([true, false, false])
    isGone = true
    for (let i = 0; i < 2 * LIMIT; i++) await expect(ask(marked)).rejects.toMatchObject({ code: 'service_unavailable' })
    isGone = false
    // Three were counted before.
    const passed = await Promise.all(Array.from({ length: LIMIT }, () => ask(null)))
    expect(passed.filter(each => each.isGranted)).toHaveLength(LIMIT - 3)
  })

  test('is requested by each process that counts without Redis: together they admit the limit', async () => {
    const { database, projectId, keyId } = await openKey()
    const away = () => Promise.reject(new Error('away'))
    const processes = Array.from({ length: 2 }, () =>
      createRateLimiter(createFallbackStore({ ...createInProcessStore(), count: away }), database),
    )
    const account = {
      project_id: projectId,
      key_id: keyId,
      requests_per_minute: LIMIT,
      requests_per_minute_per_address: LIMIT,
      minute_counted_until: null,
    }
    const counting = processes.flatMap(windows =>
      Array.from({ length: LIMIT }, () => windows.count({ resolvedKey: account, address: '192.0.2.7', entry: null })),
    )
    expect((await Promise.all(counting)).filter(each => each.isGranted)).toHaveLength(LIMIT)
    const [counted] = await database.call(
      'select sum(outside_redis)::integer as requests from minute_counts where key_id = $1',
      [keyId],
    )
    expect(counted).toEqual({ requests: LIMIT })
  })

  test('refunds rejected requests', async () => {
    const { database, projectId, keyId, withoutRedis } = await openKey()
    const store = createInProcessStore()
    /** Reports the counts of each second, as Redis does. */
    const telling: FastStore = {
      ...store,
      async count(batch) {
        const counted = await store.count(batch)
        const window = new DataView(new ArrayBuffer(12 + 61 * 4))
        const total = counted.totals[0] ?? 0
        window.setUint32(0, total)
        window.setUint32(4, counted.receipt.second)
        window.setUint32(12 + (counted.receipt.second % 61) * 4, total)
        return { ...counted, windows: [new Uint8Array(window.buffer)] }
      },
    }
    const windows = createRateLimiter(telling, database)
    const ask = (until: number | null) =>
      windows.count({
        resolvedKey: {
          project_id: projectId,
          key_id: keyId,
          requests_per_minute: LIMIT,
          requests_per_minute_per_address: LIMIT,
          minute_counted_until: until,
        },
        address: '192.0.2.7',
        entry: null,
      })
    // Another process has admitted most of the minute without Redis.
    expect(await withoutRedis(LIMIT - 2, Math.floor(Date.now() / 1_000))).toBe(LIMIT - 2)
    const marked = Date.now() / 1_000 + 600
    const first = await Promise.all(Array.from({ length: 5 }, () => ask(marked)))
    expect(first.filter(each => each.isGranted)).toHaveLength(2)
    const free = await Promise.all(Array.from({ length: LIMIT }, () => ask(null)))
    expect(free.filter(each => each.isGranted)).toHaveLength(LIMIT - 2)
  })
})
