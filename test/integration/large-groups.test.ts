import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Database } from '../../src/postgres/database.ts'
import { searchCacheBatch } from '../../src/postgres/search-cache.ts'
import { describeBackends, describeReal } from '../harness/backends.ts'
import {
  type CacheLocation,
  createEmbeddingSpace,
  createTestProject,
  rewordedSearch,
  storePrompts,
} from '../harness/cached-responses.ts'
import { queriesOf } from '../harness/queries.ts'

/** More prompts than are compared one by one where a group has lists. */
const PROMPTS = 700

async function fill(database: Database): Promise<CacheLocation> {
  const projectId = await createTestProject(database, 'acme')
  const place = { projectId, spaceId: await createEmbeddingSpace(database), context: 'none' }
  await storePrompts(database, place, 0, PROMPTS)
  return place
}

async function findAll(database: Database, place: CacheLocation, numbers: readonly number[]): Promise<string[]> {
  const found = await searchCacheBatch(
    database,
    numbers.map(number => rewordedSearch(`prompt ${number}`, place)),
  )
  return found.map(({ matches }) => matches.map(row => (row.match === 'similar' ? row.prompt : row.match)).join())
}

const everyTenth = Array.from({ length: PROMPTS / 10 }, (_, i) => i * 10)
const promptsOf = (numbers: readonly number[]) => numbers.map(number => `prompt ${number}`)

async function findLists(database: Database): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class where relkind = 'r' and relname like 'cache\\_lists\\_%' order by oid
  `.execute(queriesOf(database))
  return rows.map(row => row.name)
}

describeBackends('a large group', backend => {
  test('finds similar prompts, and none of another project or context', async () => {
    const { database } = await backend.open()
    const place = await fill(database)
    const found = await findAll(database, place, everyTenth)
    const missed = everyTenth.filter((_, at) => found[at] === '')
    expect(found).toEqual(everyTenth.map(number => (missed.includes(number) ? '' : `prompt ${number}`)))
    // An embedded database compares all prompts. The number that lists may miss is tested below.
    if (backend.name === 'embedded') expect(missed).toEqual([])
    const other = await createTestProject(database, 'other')
    expect(new Set(await findAll(database, { ...place, projectId: other }, everyTenth))).toEqual(new Set(['']))
    expect(new Set(await findAll(database, { ...place, context: 'some' }, everyTenth))).toEqual(new Set(['']))
  })
})

describeReal('the vector index of a large group', backend => {
  test('misses at most one lookup of a hundred', async () => {
    const { database } = await backend.open()
    const place = await fill(database)
    const [lists] = await findLists(database)
    const numbers = Array.from({ length: PROMPTS }, (_, number) => number)
    const found: string[] = []
    // Lists start from a random sample: three of them together miss about 5 of 2,100.
    for (let parting = 0; parting < 3; parting++) {
      found.push(...(await findAll(database, place, numbers)))
      await database.runScript(`reindex table ${lists}`)
    }
    const right = found.filter((name, at) => name === `prompt ${at % PROMPTS}`)
    expect(found.filter(name => name !== '')).toEqual(right)
    expect(right.length).toBeGreaterThanOrEqual(0.99 * found.length)
  })

  test('includes all entries that were compared before', async () => {
    const { database } = await backend.open()
    const place = {
      projectId: await createTestProject(database, 'acme'),
      spaceId: await createEmbeddingSpace(database),
      context: 'none',
    }
    await storePrompts(database, place, 0, 150)
    expect(await findLists(database)).toEqual([])
    await storePrompts(database, place, 150, 700)
    const { rows } = await sql<{ compared: number }>`
      select count(*)::integer as compared from cache_prompts where not in_lists`.execute(queriesOf(database))
    expect(rows[0]?.compared).toBe(0)
    expect(await findLists(database)).toHaveLength(1)
  })

  test('does not grow by entries that are stored again', async () => {
    const { database } = await backend.open()
    const place = await fill(database)
    const size = async () => {
      const [lists] = await findLists(database)
      const { rows } = await sql<{
        size: number
      }>`select count(*)::integer as size from ${sql.table(lists ?? '')}`.execute(queriesOf(database))
      return rows[0]?.size
    }
    const before = await size()
    await storePrompts(database, place, 0, PROMPTS)
    expect(await size()).toBe(before)
  })

  test('is rebuilt when most of it has expired, and frees its space', async () => {
    const { database } = await backend.open()
    const place = await fill(database)
    const [lists] = await findLists(database)
    const remaining = everyTenth
    await database.runScript(`
      update cache_entries set expires_at = now() - interval '1 s'
      where id in (select entry_id from cache_prompts where substring(prompt from 8)::integer % 10 <> 0);
      update cache_prompts p set expires_at = e.expires_at from cache_entries e where e.id = p.entry_id;
      select delete_expired_entries(10000);
      select rebuild_cache_lists();
    `)
    await database.runScript('select rebuild_cache_lists()')
    const left = await findLists(database)
    expect(left).toHaveLength(1)
    expect(left).not.toContain(lists)
    expect(await findAll(database, place, remaining)).toEqual(promptsOf(remaining))
    expect(await findAll(database, place, [691])).toEqual([''])
  })

  test('is rebuilt with more lists when it has outgrown its lists', async () => {
    const { database } = await backend.open()
    const place = await fill(database)
    const [lists] = await findLists(database)
    const rebuild = () => database.call<{ rebuilt: number }>('select rebuild_cache_lists() as rebuilt', [])
    expect(await rebuild()).toEqual([{ rebuilt: 0 }])
    await database.runScript(`insert into ${lists} select -n, l.code from ${lists} l, generate_series(1, 15) n`)
    expect(await rebuild()).toEqual([{ rebuilt: 1 }])
    expect(await findAll(database, place, everyTenth)).toEqual(promptsOf(everyTenth))
    expect(await rebuild()).toEqual([{ rebuilt: 0 }])
    expect(await findLists(database)).not.toContain(lists)
  })

  test('is deleted by a purge', async () => {
    const { database } = await backend.open()
    const place = await fill(database)
    await database.runScript(`select purge_cache('acme'); select rebuild_cache_lists()`)
    expect(await findLists(database)).toEqual([])
    expect(await findAll(database, place, [10, 690])).toEqual(['', ''])
    await storePrompts(database, place, 0, 100)
    expect(await findAll(database, place, [10])).toEqual(['prompt 10'])
  })

  test('is built once, however many start it at the same time', async () => {
    const { database } = await backend.open()
    const projectId = await createTestProject(database, 'acme')
    const place = { projectId, spaceId: await createEmbeddingSpace(database), context: 'none' }
    await storePrompts(database, place, 0, 400)
    await Promise.all([0, 1, 2, 3, 4, 5].map(i => storePrompts(database, place, 400 + i * 100, 500 + i * 100)))
    const [lists, ...others] = await findLists(database)
    expect(others).toEqual([])
    // This is not tested with lookups: the lists were made from the first prompts, and with so few lists one lookup of a hundred misses.
    const { rows } = await sql<{ prompts: number }>`
      select count(*)::integer as prompts from cache_prompts p
      where not p.in_lists or exists (select from ${sql.table(lists ?? '')} g where g.entry_id = p.entry_id)
    `.execute(queriesOf(database))
    expect(rows[0]?.prompts).toBe(1_000)
  })
})
