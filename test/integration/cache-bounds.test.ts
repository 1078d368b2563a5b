import { sql } from 'kysely'
import postgres from 'postgres'
import { expect, test } from 'vitest'
import { callFunction } from '../../src/postgres/call.ts'
import type { Database } from '../../src/postgres/database.ts'
import { type CacheEntryInput, storeCachedResponses } from '../../src/postgres/store-cached-responses.ts'
import { storeVectors } from '../../src/postgres/vectors.ts'
import { describeBackends, describeReal } from '../harness/backends.ts'
import {
  type CacheLocation,
  cacheEntryFor,
  createEmbeddingSpace,
  createTestProject,
  rewordedSearch,
  searchCache,
  sha256,
} from '../harness/cached-responses.ts'
import { queriesOf } from '../harness/queries.ts'
import { waitUntil } from '../harness/wait-until.ts'

const DAY_SECONDS = 86_400
const INVALIDATE = `select entries::integer from invalidate_cache('acme', of_namespace => '', dry_run => false)`

async function prepare(database: Database): Promise<CacheLocation> {
  return {
    projectId: await createTestProject(database, 'acme'),
    spaceId: await createEmbeddingSpace(database),
    context: 'none',
  }
}

async function listEntries(database: Database): Promise<{ id: number; hash: string; lives: number }[]> {
  const { rows } = await sql<{ id: number; hash: string; lives: number }>`
    select id::integer, encode(request_hash, 'hex') as hash, round(extract(epoch from expires_at - now()))::integer as lives
    from cache_entries order by expires_at`.execute(queriesOf(database))
  return rows
}

async function readSizes(database: Database) {
  await database.runScript('select update_cache_sizes()')
  const { rows } = await sql`
    select kind, test, entries::integer, bytes::integer as bytes from cache_sizes where entries <> 0 or bytes <> 0 order by kind, test
  `.execute(queriesOf(database))
  return rows
}

async function measureSizes(database: Database) {
  const { rows } = await sql`
    select 'answers' as kind, test, count(*)::integer as entries, sum(bytes)::integer as bytes from cache_entries group by test
    union all
    select 'vectors', test, count(*)::integer, sum(bytes)::integer from cached_vectors group by test
    order by kind, test`.execute(queriesOf(database))
  return rows
}

describeBackends('store_cached_responses()', backend => {
  test('stores for an existing project, and entries are deleted with the project', async () => {
    const { database } = await backend.open()
    const place = await prepare(database)
    expect(
      await storeCachedResponses(database, [
        cacheEntryFor('one', place),
        { ...cacheEntryFor('two', place), semantic: null },
      ]),
    ).not.toContain(null)
    await database.runScript(`delete from projects where id = ${place.projectId}`)
    expect(await listEntries(database)).toEqual([])
    expect(await searchCache(database, rewordedSearch('one', place))).toEqual([])
    expect(await storeCachedResponses(database, [cacheEntryFor('one', place)])).toEqual([null])
    expect(await listEntries(database)).toEqual([])
  })

  test('a replacement is later than what it replaces, whichever of the two began first', async () => {
    const { database } = await backend.open()
    const place = await prepare(database)
    const replaced = cacheEntryFor('one', place)
    const createdAt = async () => {
      const [row] = await searchCache(database, { ...rewordedSearch('one', place), requestHash: replaced.requestHash })
      return row?.created_at?.getTime() ?? 0
    }
    await storeCachedResponses(database, [replaced])
    await database.runScript(`update cache_entries set created_at = now() + interval '900 ms'`)
    const former = await createdAt()
    await storeCachedResponses(database, [replaced])
    expect(await createdAt()).toBeGreaterThan(former)
    // A clock that was ahead: the age counts from the replacement, although its time is earlier.
    await database.runScript(`update cache_entries set created_at = now() + interval '1 hour'`)
    await storeCachedResponses(database, [replaced])
    expect(await createdAt()).toBeLessThan(former + 60_000)
  })

  test('stores a batch in one call and names each entry', async () => {
    const { database } = await backend.open()
    const place = await prepare(database)
    const exactOnly: CacheEntryInput = { ...cacheEntryFor('alone', place), semantic: null }
    const withoutVector = cacheEntryFor('wordy', place)
    if (withoutVector.semantic) withoutVector.semantic.vector = null
    const batch = [cacheEntryFor('one', place), exactOnly, withoutVector, cacheEntryFor('one', place)]
    const ids = await storeCachedResponses(database, batch)
    expect(new Set(ids).size).toBe(3)
    expect(ids[3]).toBe(ids[0])
    for (const [i, answer] of batch.entries()) {
      const found = await searchCache(database, { ...rewordedSearch('x', place), requestHash: answer.requestHash })
      expect(found).toEqual([expect.objectContaining({ match: 'exact', response: answer.response })])
      expect(Number(found[0]?.entry_id)).toBe(ids[i])
    }
    expect(await searchCache(database, rewordedSearch('one', place))).toHaveLength(1)
    expect(await searchCache(database, rewordedSearch('alone', place))).toHaveLength(0)
  })

  test('replaces: the last of a batch remains, and a response that may no longer be found by its prompt is not', async () => {
    const { database } = await backend.open()
    const place = await prepare(database)
    const first = cacheEntryFor('one', place)
    const [id] = await storeCachedResponses(database, [first, { ...first, response: '{"second":true}' }])
    expect(await searchCache(database, { ...rewordedSearch('one', place), requestHash: first.requestHash })).toEqual([
      expect.objectContaining({ response: '{"second":true}' }),
    ])
    expect(await searchCache(database, rewordedSearch('one', place))).toHaveLength(1)
    expect(await storeCachedResponses(database, [{ ...first, semantic: null }])).toEqual([id])
    expect(await searchCache(database, rewordedSearch('one', place))).toEqual([])
  })

  test('omits what a purge has overtaken, and what has no project', async () => {
    const { database } = await backend.open()
    const place = await prepare(database)
    const answer = cacheEntryFor('one', place)
    await database.runScript(`select purge_cache('acme')`)
    expect(
      await storeCachedResponses(database, [
        { ...answer, cacheGeneration: 1 },
        { ...answer, projectId: place.projectId + 1 },
      ]),
    ).toEqual([null, null])
    expect(await storeCachedResponses(database, [{ ...answer, cacheGeneration: 2 }])).toEqual([expect.any(Number)])
  })

  test('no entry outlives the plan’s maximum, and none of a test key a day', async () => {
    const { database } = await backend.open()
    const place = await prepare(database)
    const forever = { ...cacheEntryFor('one', place), ttlSeconds: 315_360_000 }
    await storeCachedResponses(database, [forever])
    await storeCachedResponses(database, [{ ...forever, requestHash: sha256('other'), test: true }])
    const [tested, untested] = await listEntries(database)
    expect(tested?.lives).toBe(DAY_SECONDS)
    expect(untested?.lives).toBe(30 * DAY_SECONDS)
  })
})

describeReal('invalidate_cache()', backend => {
  test('includes a response that was being stored when it began', async () => {
    const { database, databaseUrl } = await backend.open()
    const { projectId } = await prepare(database)
    const storing = postgres(databaseUrl ?? '', { max: 1, onnotice: () => {} })
    let invalidated: Promise<{ entries: number }[]> = Promise.resolve([])
    await storing.begin(async transaction => {
      // The lock and the row that store_cached_responses() also takes and writes.
      await transaction`select 1 from projects where id = ${projectId} for share`
      await transaction`
        insert into cache_entries (project_id, request_hash, endpoint, model, provider, response, expires_at, bytes)
        values (${projectId}, ${Buffer.alloc(32)}, 'chat', 'm', 'p', '{}', now() + interval '1 day', 300)`
      invalidated = database.call<{ entries: number }>(INVALIDATE, [])
      await waitUntil('the invalidation waits for the project', async () => {
        // Within one transaction, statistics stay the same unless the snapshot is cleared.
        await transaction`select pg_stat_clear_snapshot()`
        const waiting = await transaction`
          select from pg_stat_activity where datname = current_database() and query like '%invalidate_cache%' and wait_event_type = 'Lock'`
        return waiting.length > 0
      })
    })
    await storing.end()
    expect(await invalidated).toEqual([{ entries: 1 }])
    expect(await listEntries(database)).toEqual([])
  })
})

describeBackends('entries of a project', backend => {
  test('are counted through storing, replacing and deleting', async () => {
    const { database } = await backend.open()
    const place = await prepare(database)
    const vector = (name: string, length: number) => ({
      name: sha256(name),
      packed: new Uint8Array(length),
      promptTokens: 1,
      responseModel: 'm',
    })
    await storeCachedResponses(database, [cacheEntryFor('one', place), cacheEntryFor('two', place)])
    await storeCachedResponses(database, [
      { ...cacheEntryFor('one', place), response: '{"longer":"by far"}'.repeat(20) },
    ])
    await storeCachedResponses(database, [{ ...cacheEntryFor('three', place), test: true }])
    const { projectId } = place
    await storeVectors(database, { projectId, vectors: [vector('a', 100), vector('b', 50)], ttlSeconds: 60 })
    await storeVectors(database, { projectId, vectors: [vector('a', 300)], ttlSeconds: 60 })
    expect(await readSizes(database)).toEqual(await measureSizes(database))
    await database.runScript(`delete from cache_entries where id in (select min(id) from cache_entries)`)
    expect(await readSizes(database)).toEqual(await measureSizes(database))
    await database.runScript(`select purge_cache('acme')`)
    expect(await readSizes(database)).toEqual([])
  })

  test('stay within cache_bytes: those that expire first are evicted first', async () => {
    const { database } = await backend.open()
    const place = await prepare(database)
    const other = { ...place, projectId: await createTestProject(database, 'other') }
    const prompts = Array.from({ length: 40 }, (_, i) => `prompt ${i}`)
    const answers = prompts.map((prompt, i) => ({ ...cacheEntryFor(prompt, place), ttlSeconds: 100 + i * 10 }))
    await storeCachedResponses(database, answers.toReversed())
    await storeCachedResponses(database, [cacheEntryFor('of another', other)])
    const [row] = (await measureSizes(database)) as { bytes: number; entries: number }[]
    const half = Math.floor(((row?.bytes ?? 0) / (row?.entries ?? 1)) * 20)
    await database.runScript(`select set_setting('acme', 'cache_bytes', '${half}')`)
    while ((await callFunction(database, 'evict_entries', { max_rows: 7 })) >= 7);
    const left = await listEntries(database)
    const expected = answers.slice(-19).map(answer => answer.requestHash)
    expect(left.map(entry => entry.hash)).toEqual(expect.arrayContaining(expected))
    expect(left.length).toBeGreaterThanOrEqual(20)
    expect(left.length).toBeLessThanOrEqual(21)
    const kept = (await readSizes(database)) as { entries: number }[]
    expect(kept.reduce((sum, size) => sum + size.entries, 0)).toBe(left.length)
  })

  test('include at most a thousand of test keys', async () => {
    const { database } = await backend.open()
    const place = await prepare(database)
    for (let i = 0; i < 1_100; i += 100) {
      const batch = Array.from({ length: 100 }, (_, j) => ({ ...cacheEntryFor(`test ${i + j}`, place), test: true }))
      await storeCachedResponses(database, batch)
    }
    await storeCachedResponses(database, [cacheEntryFor('of a project key', place)])
    expect(await callFunction(database, 'evict_entries', { max_rows: 1_000 })).toBe(100)
    expect(await callFunction(database, 'evict_entries', { max_rows: 1_000 })).toBe(0)
    expect(await measureSizes(database)).toEqual([
      expect.objectContaining({ test: false, entries: 1 }),
      expect.objectContaining({ test: true, entries: 1_000 }),
    ])
  })
})

describeBackends('installation_id()', backend => {
  test('is the same each time', async () => {
    const { database } = await backend.open()
    const read = async () =>
      (await sql<{ id: string }>`select installation_id() as id`.execute(queriesOf(database))).rows[0]?.id
    expect(await read()).toMatch(/^[0-9a-f-]{36}$/)
    expect(await read()).toBe(await read())
  })
})
