import { sql } from 'kysely'
import { expect, test } from 'vitest'
import {
  type AdmissionBatch,
  type AdmissionRequest,
  admitRequests,
  type ResolvedKey,
  refundRequests,
} from '../../src/postgres/admit-requests.ts'
import { callFunction } from '../../src/postgres/call.ts'
import { type Database, isLockTimeout } from '../../src/postgres/database.ts'
import { describeBackends } from '../harness/backends.ts'
import { queriesOf } from '../harness/queries.ts'
import { waitUntil } from '../harness/wait-until.ts'

function hashOf(key: string): string {
  return new Bun.CryptoHasher('sha256').update(key).digest('hex')
}

async function countedRequests(database: Database, keyType = 'project'): Promise<number> {
  const { rows } = await sql<{ requests: number }>`
    select coalesce(sum(requests), 0)::integer as requests from monthly_counters where key_type = ${keyType}
  `.execute(queriesOf(database))
  return rows[0]?.requests ?? 0
}

type Row = ResolvedKey & { granted: number }

/** Returns each reply with its key's columns and the number granted. */
async function admitRows(
  database: Database,
  asks: readonly AdmissionRequest[],
  batch?: AdmissionBatch,
): Promise<Row[]> {
  const replies = await admitRequests(database, asks, batch)
  return replies.map(({ resolvedKey, granted }) => ({ ...resolvedKey, granted }) as Row)
}

/** Repeats calls that found the counter locked, as callers do: on a slow machine, 200 at once lock it for longer than a statement waits. */
async function admitInTurn(database: Database, asks: readonly AdmissionRequest[]) {
  for (;;) {
    try {
      return await admitRequests(database, asks)
    } catch (error) {
      if (!isLockTimeout(error)) throw error
    }
  }
}

/** The columns that are null where there is no limit. */
const NULLABLE: ReadonlySet<string> = new Set([
  'key_allowed_models',
  'allowed_addresses',
  'named_provider_keys',
  'tokens_per_minute',
  'minute_counted_until',
])

describeBackends('admit()', backend => {
  test('validates, reserves, and returns the project’s rights', async () => {
    const { database } = await backend.open()
    await callFunction(database, 'create_project', { project: 'acme', plan: 'pro' })
    const key = await callFunction(database, 'issue_key', { project: 'acme', key_type: 'project', key_name: 'ci' })
    const [known, stranger] = (await admitRows(database, [
      { keyHash: hashOf(key), requests: 3 },
      { keyHash: hashOf('lgw_proj_never_issued'), requests: 1 },
    ])) as [Row, Row]
    expect(known).toMatchObject({
      verdict: 'active',
      granted: 3,
      key_type: 'project',
      key_prefix: key.slice(0, 17),
      project_name: 'acme',
      requests_per_minute: 600,
      requests_per_minute_per_address: 1200,
      semantic_threshold: 0.95,
      cache_ttl_seconds: 604800,
      direct_providers: [],
    })
    expect(stranger).toMatchObject({ verdict: 'unknown', granted: 0 })
    expect(await countedRequests(database)).toBe(3)
  })

  test('a batch that is sent again reserves nothing more, and returns the same result', async () => {
    const { database } = await backend.open()
    await database.runScript(`insert into plans values ('five', 1000, 1000, 5)`)
    await callFunction(database, 'create_project', { project: 'acme', plan: 'five' })
    const keyHash = hashOf(
      await callFunction(database, 'issue_key', { project: 'acme', key_type: 'project', key_name: 'ci' }),
    )
    const asks = [{ keyHash, requests: 2 }]
    const both = [...asks, { keyHash: hashOf('lgw_proj_never_issued'), requests: 4 }]
    const slot = crypto.randomUUID()
    for (const [sequence, batch, granted] of [
      [1, asks, [2]],
      [2, both, [2, 0]],
      // Two were requested, and one was left.
      [3, asks, [1]],
      [4, both, [0, 0]],
    ] as const) {
      for (const _ of ['first', 'again', 'and again']) {
        const rows = await admitRequests(database, batch, { slot, sequence })
        expect(rows.map(row => row.granted)).toEqual(granted)
      }
    }
    expect(await countedRequests(database)).toBe(5)
    // A call that arrives after its slot was reused is of a batch that was settled long ago.
    expect(await admitRows(database, asks, { slot, sequence: 1 })).toMatchObject([{ verdict: 'active', granted: 0 }])
    // Another slot is another batch.
    await database.runScript('update monthly_counters set requests = 0')
    expect(await admitRequests(database, asks, { slot: crypto.randomUUID(), sequence: 1 })).toMatchObject([
      { granted: 2 },
    ])
    expect(await countedRequests(database)).toBe(2)
  })

  test('a batch that arrives twice at once is counted once', async () => {
    const { database } = await backend.open()
    await callFunction(database, 'create_project', { project: 'acme', plan: 'pro' })
    const keyHash = hashOf(
      await callFunction(database, 'issue_key', { project: 'acme', key_type: 'project', key_name: 'ci' }),
    )
    const slots = Array.from({ length: 20 }, () => crypto.randomUUID())
    const twice = [...slots, ...slots, ...slots]
    const rows = await Promise.all(
      twice.map(slot => admitRequests(database, [{ keyHash, requests: 3 }], { slot, sequence: 1 })),
    )
    expect(rows.map(([row]) => row?.granted)).toEqual(twice.map(() => 3))
    expect(await countedRequests(database)).toBe(60)
  })

  test('columns of a key record that are typed as never null never are', async () => {
    const { database } = await backend.open()
    await callFunction(database, 'create_project', { project: 'acme', plan: 'free' })
    const keyHash = hashOf(
      await callFunction(database, 'issue_key', { project: 'acme', key_type: 'project', key_name: 'ci' }),
    )
    const [row] = await admitRows(database, [{ keyHash, requests: 0 }])
    expect(Object.entries(row ?? {}).filter(([name, value]) => value === null && !NULLABLE.has(name))).toEqual([])
  })

  test('the next batch has every change of a key record; an unchanged record is not sent again', async () => {
    const { database } = await backend.open()
    await database.runScript(`insert into plans values ('own', 1000, 1000, 1000000), ('other', 1000, 1000, 1000000)`)
    await callFunction(database, 'create_project', { project: 'acme', plan: 'own' })
    const keyHash = hashOf(
      await callFunction(database, 'issue_key', { project: 'acme', key_type: 'project', key_name: 'ci' }),
    )
    const storeKey = (provider: string) =>
      `insert into provider_keys (project_id, provider, sealed, last_four) select id, '${provider}', 's', 'abcd' from projects`
    const changes = [
      ...[
        'semantic_mode = $$off$$',
        'semantic_threshold = 0.5',
        'cache_generation = 9',
        'fallbacks = $${a}$$',
        'name = $$x$$',
      ].map(change => `update projects set ${change}`),
      `update projects set plan = 'other'`,
      ...[
        'requests_per_month = 5000',
        'requests_per_minute_per_key = 7',
        'concurrent_requests = 3',
        'max_cache_ttl_seconds = 60',
      ].map(change => `update plans set ${change} where name = 'other'`),
      storeKey('openai'),
      storeKey('groq'),
      `delete from provider_keys where provider = 'openai'`,
      storeKey('openai'),
      `delete from provider_keys`,
      `update api_keys set expires_at = now() + interval '1 hour'`,
      `update api_keys set expires_at = now() - interval '1 hour'`,
      `update api_keys set expires_at = null`,
      `update api_keys set deactivated_at = now()`,
    ]
    for (const change of ['', ...changes]) {
      if (change) await database.call(change, [])
      const [expected] = await database.call<{ account: string }>(
        `select (k.settings::jsonb || to_jsonb(k) - '{key_hash,settings}'::text[])::text as account from resolved_keys k`,
        [],
      )
      // The first call may see a changed key; the second knows it.
      for (const _ of ['changed', 'known']) {
        const [row] = await admitRows(database, [{ keyHash, requests: 1 }], { slot: crypto.randomUUID(), sequence: 1 })
        const { month: __, key_hash: ___, granted: ____, ...account } = row as Row & { key_hash: string }
        expect(account, change).toEqual(JSON.parse(expected?.account ?? ''))
      }
    }
    const [limits] = await database.call<{ version: string }>('select key_version as version from key_limits', [])
    const sent = await database.call(
      'select a.account is null as known from admit($1::text[], $2::integer[], null, null, $3::text[], false, 50) a',
      [[keyHash], [0], [limits?.version]],
    )
    expect(sent).toEqual([{ known: true }])
  })

  test('an unchanged key record is of the new month in the new month', async () => {
    const { database } = await backend.open()
    await callFunction(database, 'create_project', { project: 'acme', plan: 'pro' })
    const asks = [
      {
        keyHash: hashOf(
          await callFunction(database, 'issue_key', { project: 'acme', key_type: 'project', key_name: 'ci' }),
        ),
        requests: 1,
      },
    ]
    let month: string | null = null
    const later: Database = {
      ...database,
      async call<Row>(text: string, values: readonly unknown[]) {
        const rows = await database.call<Row>(text, values)
        return month === null ? rows : rows.map(row => ({ ...row, month }))
      },
    }
    const [first] = await admitRequests(later, asks)
    month = '2099-01-01'
    const [second] = await admitRequests(later, asks)
    expect(second?.resolvedKey).toEqual({ ...first?.resolvedKey, month })
  })

  test('reports when the end of a quota is near, and then commits to disk if requested', async () => {
    const { database } = await backend.open()
    // Each key of the second project may reserve at most 50, as that is its limit a minute.
    await database.runScript(`insert into plans values ('far', 50, 50, 1000), ('near', 50, 50, 60)`)
    const hashes: string[] = []
    for (const plan of ['far', 'near']) {
      await callFunction(database, 'create_project', { project: plan, plan })
      hashes.push(
        hashOf(await callFunction(database, 'issue_key', { project: plan, key_type: 'project', key_name: 'ci' })),
      )
    }
    const [far, near] = hashes
    const reserve = async (commitsOnDisk: boolean, ...keys: (string | undefined)[]) => {
      const [row] = await database.call<{ isNear: boolean; commits: string }>(
        `select a.near_end as "isNear", current_setting('synchronous_commit') as commits
        from admit($1::text[], $2::integer[], null, null, (
          select array_agg(l.key_version order by a.ordinal)
          from unnest($1::text[]) with ordinality as a (key_hash, ordinal)
          join key_limits l on l.key_hash = decode(a.key_hash, 'hex')
        ), $3::boolean, 40) a`,
        [keys, keys.map(() => 5), commitsOnDisk],
      )
      return [row?.isNear, row?.commits]
    }
    // The first reservation of a month creates the counter.
    await reserve(false, far, near)
    expect(await reserve(true, far)).toEqual([false, 'off'])
    // The limit near the end of the month is reached by the second reservation: 10 of 60 are more than what is left.
    expect(await reserve(true, near)).toEqual([false, 'off'])
    expect(await reserve(true, near)).toEqual([true, 'on'])
    expect(await reserve(false, near)).toEqual([true, 'off'])
    expect(await reserve(true, far)).toEqual([false, 'off'])
    expect(await reserve(true, far, near)).toEqual([true, 'on'])
  })

  test('a key that expires meanwhile is rejected by the next batch', async () => {
    const { database } = await backend.open()
    await callFunction(database, 'create_project', { project: 'acme', plan: 'pro' })
    const asks = [
      {
        keyHash: hashOf(
          await callFunction(database, 'issue_key', { project: 'acme', key_type: 'project', key_name: 'ci' }),
        ),
        requests: 1,
      },
    ]
    await database.call(`update api_keys set expires_at = clock_timestamp() + interval '1 second'`, [])
    expect(await admitRequests(database, asks)).toMatchObject([{ resolvedKey: { verdict: 'active' }, granted: 1 }])
    await waitUntil('the key has expired', async () => {
      const [reply] = await admitRequests(database, asks)
      return reply?.resolvedKey.verdict === 'expired' && reply.granted === 0
    })
  })

  test('returns the same for a key alone as for one among others, test keys too', async () => {
    const { database } = await backend.open()
    await callFunction(database, 'create_project', { project: 'acme', plan: 'pro' })
    await database.runScript(`update projects set fallbacks = '{a,b}', semantic_threshold = 0.9, cache_generation = 7;
      insert into provider_keys (project_id, provider, sealed, last_four)
        select id, unnest('{openai,groq}'::text[]), 'sealed', 'abcd' from projects`)
    for (const type of ['project', 'test'] as const) {
      const ask = {
        keyHash: hashOf(await callFunction(database, 'issue_key', { project: 'acme', key_type: type, key_name: type })),
        requests: 2,
      }
      // The first request of the month creates the counter.
      await admitRequests(database, [ask])
      const alone = await admitRows(database, [ask])
      const [among] = await admitRows(database, [ask, { keyHash: hashOf('a stranger'), requests: 1 }])
      expect(alone).toEqual([among])
      expect(among).toMatchObject({ granted: 2, fallbacks: ['a', 'b'], direct_providers: ['groq', 'openai'] })
      expect(await countedRequests(database, type)).toBe(6)
    }
  })

  test('a request for 0 counts nothing', async () => {
    const { database } = await backend.open()
    await callFunction(database, 'create_project', { project: 'acme', plan: 'free' })
    const key = await callFunction(database, 'issue_key', { project: 'acme', key_type: 'project', key_name: 'ci' })
    const [row] = await admitRows(database, [{ keyHash: hashOf(key), requests: 0 }])
    expect(row).toMatchObject({ verdict: 'active', granted: 0 })
    expect(await countedRequests(database)).toBe(0)
  })

  test('distributes the rest of a quota in order, also between keys of one project', async () => {
    const { database } = await backend.open()
    await database.runScript(`insert into plans values ('tiny', 1000, 1000, 10)`)
    await callFunction(database, 'create_project', { project: 'acme', plan: 'tiny' })
    const keys = [
      await callFunction(database, 'issue_key', { project: 'acme', key_type: 'project', key_name: 'a' }),
      await callFunction(database, 'issue_key', { project: 'acme', key_type: 'project', key_name: 'b' }),
    ]
    const rows = await admitRequests(
      database,
      keys.map(key => ({ keyHash: hashOf(key), requests: 7 })),
    )
    expect(rows.map(row => row.granted)).toEqual([7, 3])
    expect(await countedRequests(database)).toBe(10)
    const [more] = await admitRequests(database, [{ keyHash: hashOf(keys[0] ?? ''), requests: 1 }])
    expect(more?.granted).toBe(0)
  })

  test('a quota of 100 admits exactly 100 of any number of simultaneous requests', async () => {
    const { database } = await backend.open()
    await database.runScript(`insert into plans values ('hundred', 100000, 100000, 100)`)
    await callFunction(database, 'create_project', { project: 'acme', plan: 'hundred' })
    const keyHash = hashOf(
      await callFunction(database, 'issue_key', { project: 'acme', key_type: 'project', key_name: 'ci' }),
    )
    const batches = await Promise.all(
      Array.from({ length: 200 }, (_, i) => admitInTurn(database, [{ keyHash, requests: 1 + (i % 3) }])),
    )
    expect(batches.reduce((sum, [row]) => sum + (row?.granted ?? 0), 0)).toBe(100)
    expect(await countedRequests(database)).toBe(100)
  })

  test('batches that name the same projects in opposite order do not deadlock', async () => {
    const { database } = await backend.open()
    const hashes: string[] = []
    for (const name of ['a', 'b', 'c', 'd']) {
      await callFunction(database, 'create_project', { project: name, plan: 'enterprise' })
      hashes.push(
        hashOf(await callFunction(database, 'issue_key', { project: name, key_type: 'project', key_name: 'ci' })),
      )
    }
    const forward = hashes.map(keyHash => ({ keyHash, requests: 1 }))
    const batches = Array.from({ length: 100 }, (_, i) => admitInTurn(database, i % 2 ? forward : forward.toReversed()))
    await Promise.all(batches)
    expect(await countedRequests(database)).toBe(400)
  })

  test('test keys count apart from project keys', async () => {
    const { database } = await backend.open()
    await callFunction(database, 'create_project', { project: 'acme', plan: 'free' })
    const hashes = [
      await callFunction(database, 'issue_key', { project: 'acme', key_type: 'project', key_name: 'p' }),
      await callFunction(database, 'issue_key', { project: 'acme', key_type: 'test', key_name: 't' }),
    ].map(hashOf)
    const rows = await admitRows(
      database,
      hashes.map(keyHash => ({ keyHash, requests: 2_000 })),
    )
    expect(rows.map(row => [row.key_type, row.granted, row.requests_per_minute])).toEqual([
      ['project', 2000, 60],
      ['test', 1000, 20],
    ])
    expect([await countedRequests(database), await countedRequests(database, 'test')]).toEqual([2000, 1000])
  })

  test('a deactivated key is disabled and an expired one expired, from the next call on', async () => {
    const { database } = await backend.open()
    await callFunction(database, 'create_project', { project: 'acme', plan: 'free' })
    const [gone, late] = [
      await callFunction(database, 'issue_key', { project: 'acme', key_type: 'project', key_name: 'gone' }),
      await callFunction(database, 'issue_key', { project: 'acme', key_type: 'project', key_name: 'late' }),
    ]
    await sql`select deactivate_key(${gone})`.execute(queriesOf(database))
    await sql`update api_keys set expires_at = now() - interval '1 second' where name = 'late'`.execute(
      queriesOf(database),
    )
    const asks = [gone, late].map(key => ({ keyHash: hashOf(key), requests: 1 }))
    const alone = await Promise.all(asks.map(ask => admitRows(database, [ask])))
    for (const rows of [alone.flat(), await admitRows(database, asks)]) {
      expect(rows.map(row => [row.verdict, row.granted])).toEqual([
        ['disabled', 0],
        ['expired', 0],
      ])
    }
    expect(await countedRequests(database)).toBe(0)
  })

  test('a refund applies to the month that was counted, never below zero', async () => {
    const { database } = await backend.open()
    await callFunction(database, 'create_project', { project: 'acme', plan: 'free' })
    const [row] = await admitRows(database, [
      {
        keyHash: hashOf(
          await callFunction(database, 'issue_key', { project: 'acme', key_type: 'project', key_name: 'ci' }),
        ),
        requests: 5,
      },
    ])
    if (!row) throw new Error('admit() returned nothing')
    const refund = { projectId: row.project_id, keyType: row.key_type, month: row.month, requests: 2 }
    await refundRequests(database, [refund], crypto.randomUUID())
    expect(await countedRequests(database)).toBe(3)
    await refundRequests(database, [refund, refund], crypto.randomUUID())
    expect(await countedRequests(database)).toBe(0)
  })

  test('a batch of refunds that is sent again refunds nothing', async () => {
    const { database } = await backend.open()
    await callFunction(database, 'create_project', { project: 'acme', plan: 'free' })
    const keyHash = hashOf(
      await callFunction(database, 'issue_key', { project: 'acme', key_type: 'project', key_name: 'ci' }),
    )
    const [row] = await admitRows(database, [{ keyHash, requests: 5 }])
    if (!row) throw new Error('admit() returned nothing')
    const refund = { projectId: row.project_id, keyType: row.key_type, month: row.month, requests: 2 }
    const batch = crypto.randomUUID()
    await Promise.all([1, 2, 3].map(() => refundRequests(database, [refund], batch)))
    await refundRequests(database, [refund], batch)
    expect(await countedRequests(database)).toBe(3)
  })
})
