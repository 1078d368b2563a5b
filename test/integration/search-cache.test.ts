import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { callFunction } from '../../src/postgres/call.ts'
import type { Database } from '../../src/postgres/database.ts'
import { type CacheSearch, searchCacheBatch } from '../../src/postgres/search-cache.ts'
import { type CacheEntryInput, storeCachedResponses } from '../../src/postgres/store-cached-responses.ts'
import { describeBackends } from '../harness/backends.ts'
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

const QUESTIONS = { near: '[9,10,0]', far: '[0,1,10]' }

async function fill(database: Database): Promise<(context: string, vector: string) => CacheSearch> {
  const projectId = await callFunction(database, 'create_project', { project: 'acme', plan: 'free' })
  const space = { model: 'three', dimensions: 3 }
  const spaceId = await callFunction(database, 'register_embedding_space', space)
  for (const [prompt, text] of Object.entries(QUESTIONS)) {
    await storeCachedResponses(database, [
      {
        projectId: Number(projectId),
        requestHash: sha256(prompt),
        namespace: '',
        endpoint: 'chat',
        model: 'm',
        provider: 'p',
        response: `{"to":"${prompt}"}`,
        promptTokens: 1,
        completionTokens: 1,
        ttlSeconds: 60,
        semantic: { contextHash: sha256('context'), normalizedHash: sha256(prompt), prompt, vector: { spaceId, text } },
      },
    ])
  }
  return (context, text) => ({
    projectId: Number(projectId),
    requestHash: sha256('never asked'),
    semantic: {
      contextHash: sha256(context),
      normalizedHash: sha256('never asked'),
      vector: { spaceId, text },
      comparesNewest: true,
      threshold: 0.9,
    },
    maxAgeSeconds: null,
  })
}

describeBackends('search_cache()', backend => {
  test('finds the similar prompt and no other', async () => {
    const { database } = await backend.open()
    const ask = await fill(database)
    expect(await searchCache(database, ask('context', '[10,9,0]'))).toEqual([
      expect.objectContaining({ match: 'similar', prompt: 'near', response: null }),
    ])
    expect(await searchCache(database, ask('context', '[10,-9,0]'))).toEqual([])
    expect(await searchCache(database, ask('another context', '[10,9,0]'))).toEqual([])
  })

  test('names the entry, however it was found', async () => {
    const { database } = await backend.open()
    const ask = await fill(database)
    const similar = ask('context', '[10,9,0]')
    const { rows } = await sql<{ id: string }>`
      select id from cache_entries where response = '{"to":"near"}'`.execute(queriesOf(database))
    const id = Number(rows[0]?.id)
    const normalized = similar.semantic && { ...similar.semantic, normalizedHash: sha256('near'), vector: null }
    const found = [
      ...(await searchCache(database, similar)),
      ...(await searchCache(database, { ...similar, semantic: normalized })),
      ...(await searchCache(database, { ...similar, requestHash: sha256('near') })),
    ]
    expect(found.map(row => [row.match, Number(row.entry_id)])).toEqual([
      ['similar', id],
      ['normalized', id],
      ['exact', id],
    ])
  })

  test('searches for each request of a batch by itself', async () => {
    const { database } = await backend.open()
    const ask = await fill(database)
    const similar = ask('context', '[10,9,0]')
    const exact = { ...similar, requestHash: sha256('near'), semantic: null }
    const [alone, beside] = await searchCacheBatch(database, [exact, similar])
    expect(alone?.matches).toMatchObject([{ match: 'exact' }])
    expect(beside?.matches).toMatchObject([{ match: 'similar', prompt: 'near' }])
  })

  test('finds none of other projects and contexts, and none that has expired or is older than allowed', async () => {
    const { database } = await backend.open()
    const spaceId = await createEmbeddingSpace(database)
    const place = { projectId: await createTestProject(database, 'acme'), spaceId, context: 'context' }
    const elsewhere = { ...place, projectId: await createTestProject(database, 'elsewhere') }
    await storeCachedResponses(database, [cacheEntryFor('prompt', place)])
    // A lookup by the request's hash, by the normalized text's hash, and by the vector.
    const asks = (of: typeof place) => {
      const [ask, { requestHash }] = [rewordedSearch('prompt', of), cacheEntryFor('prompt', of)]
      const named = ask.semantic && { ...ask.semantic, normalizedHash: sha256('prompt'), vector: null }
      return [{ ...ask, requestHash, semantic: null }, { ...ask, semantic: named }, ask]
    }
    const found = async (of = place, maxAgeSeconds: number | null = null) => {
      const all = asks(of).map(each => searchCache(database, { ...each, maxAgeSeconds }))
      return (await Promise.all(all)).map(rows => rows.map(({ match }) => match).join())
    }
    const kinds = ['exact', 'normalized', 'similar']
    expect(await found()).toEqual(kinds)
    const none = ['', '', '']
    expect([await found(elsewhere), await found({ ...place, context: 'another' })]).toEqual([none, none])
    for (const table of ['cache_entries', 'cache_prompts'])
      await database.call(`update ${table} set created_at = created_at - interval '100 seconds'`, [])
    expect([await found(place, 200), await found(place, 50)]).toEqual([kinds, none])
    for (const table of ['cache_entries', 'cache_prompts'])
      await database.call(`update ${table} set expires_at = now()`, [])
    expect(await found()).toEqual(none)
  })

  test('an entry deleted while it was stored stays deleted, and the later of two responses remains', async () => {
    const { database } = await backend.open()
    const place = {
      projectId: await createTestProject(database, 'acme'),
      spaceId: await createEmbeddingSpace(database),
      context: 'c',
    }
    const answer = cacheEntryFor('prompt', place)
    const ask = { ...rewordedSearch('prompt', place), requestHash: answer.requestHash, semantic: null }
    await storeCachedResponses(database, [{ ...answer, cacheGeneration: -1 }])
    expect(await searchCache(database, ask)).toEqual([])
    await storeCachedResponses(database, [answer, { ...answer, response: '{"newer":1}' }])
    expect(await searchCache(database, ask)).toMatchObject([{ response: '{"newer":1}' }])
    const [lasts] = await database.call(`select expires_at > now() + interval '1 day' as long from cache_entries`, [])
    expect(lasts).toEqual({ long: false })
    await storeCachedResponses(database, [{ ...answer, ttlSeconds: 500_000, test: true }])
    const [ofTest] = await database.call<{ days: number }>(
      `select round(extract(epoch from expires_at - now()) / 86400)::integer as days from cache_entries`,
      [],
    )
    expect(ofTest).toEqual({ days: 1 })
  })

  describe('with topic words, compares the entries that have one of them', () => {
    async function open(stored: readonly (readonly number[])[]) {
      const { database } = await backend.open()
      const place = {
        projectId: await createTestProject(database, 'acme'),
        spaceId: await createEmbeddingSpace(database),
        context: 'context',
      }
      const answers = stored.map((topicWords, at): CacheEntryInput => {
        const answer = cacheEntryFor(`prompt ${at}`, place)
        return { ...answer, semantic: answer.semantic && { ...answer.semantic, topicWords } }
      })
      await storeCachedResponses(database, answers)
      async function find(prompt: string, topicWords: readonly number[], of = place) {
        const ask = rewordedSearch(prompt, of)
        const found = await searchCache(database, {
          ...ask,
          semantic: ask.semantic && { ...ask.semantic, topicWords, comparesNewest: false },
        })
        return found.map(row => (row.match === 'similar' ? row.prompt : row.match))
      }
      return { database, place, find }
    }

    test('among the first three, and no other', async () => {
      const { find } = await open([[1, -2, 3, 4], [5], []])
      for (const word of [1, -2, 3]) expect(await find('prompt 0', [9, word])).toEqual(['prompt 0'])
      expect(await find('prompt 1', [5])).toEqual(['prompt 1'])
      expect([await find('prompt 0', [4]), await find('prompt 1', [1, -2]), await find('prompt 2', [])]).toEqual([
        [],
        [],
        [],
      ])
    })

    test.each([[[1]], [[1, 2]]])('in that context of that project, unexpired and young enough: %s', async words => {
      const { database, place, find } = await open([[1, 2, 3]])
      const elsewhere = { ...place, projectId: await createTestProject(database, 'elsewhere') }
      const other = { ...place, context: 'other' }
      expect([await find('prompt 0', words, elsewhere), await find('prompt 0', words, other)]).toEqual([[], []])
      const ask = rewordedSearch('prompt 0', place)
      const search = { ...ask, semantic: ask.semantic && { ...ask.semantic, topicWords: words, comparesNewest: false } }
      await database.call(`update cache_prompts set created_at = created_at - interval '100 seconds'`, [])
      expect(await searchCache(database, { ...search, maxAgeSeconds: 50 })).toEqual([])
      expect(await searchCache(database, { ...search, maxAgeSeconds: 200 })).toHaveLength(1)
      await database.call(`update cache_prompts set expires_at = now()`, [])
      expect(await find('prompt 0', words)).toEqual([])
    })

    test.each([[[1, 2, 3]], [[3, 1, 2]], [[1, 3, 2]]])('by pairs of words if many have either: %s', async words => {
      const { find } = await open([
        ...Array.from({ length: 70 }, (_, at) => [1, 10, 100 + at]),
        ...Array.from({ length: 70 }, (_, at) => [2, 10, 200 + at]),
        words,
      ])
      expect(await find('prompt 140', [1, 2])).toEqual(['prompt 140'])
    })

    test('once, and rather those that share more words', async () => {
      const { find } = await open([...Array.from({ length: 60 }, (_, at) => [1, 2, 30 + at]), [1, 2, 3], [4, 1, 3]])
      expect(await find('prompt 60', [1, 2, 3])).toEqual(['prompt 60'])
      expect(await find('prompt 61', [4])).toEqual(['prompt 61'])
    })
  })

  describe('finds pairs that a person confirmed', () => {
    type Verdict = { of?: Partial<CacheLocation>; source?: string; verdict?: string; given?: string }

    /**
     * Stores five prompts with other topic words than the question's. Their hashes are below and above the question's, so a pair has either
     * order.
     */
    async function open() {
      const { database } = await backend.open()
      const spaceId = await createEmbeddingSpace(database)
      const place = { projectId: await createTestProject(database, 'acme'), spaceId, context: 'context' }
      const prompts = Array.from({ length: 5 }, (_, at) => `prompt ${at}`)
      await storeCachedResponses(
        database,
        prompts.map(prompt => {
          const answer = cacheEntryFor(prompt, place)
          return { ...answer, semantic: answer.semantic && { ...answer.semantic, topicWords: [1] } }
        }),
      )
      const hashesOf = (prompt: string) => [sha256(`never asked ${prompt}`), sha256(prompt)].sort()
      async function say(prompt: string, { of, source = 'person', verdict = 'same', given = 'now()' }: Verdict) {
        const { projectId, context } = { ...place, ...of }
        const [one, other] = hashesOf(prompt)
        await database.call(
          `insert into cache_verdicts (project_id, context_hash, one_hash, other_hash, source, verdict, similarity, given_at, expires_at)
          values ($1, decode($2, 'hex'), decode($3, 'hex'), decode($4, 'hex'), $5, $6, 0.1, ${given}, 'infinity')
          on conflict (project_id, context_hash, one_hash, other_hash, source) do update set verdict = excluded.verdict, given_at = excluded.given_at`,
          [projectId, sha256(context), one, other, source, verdict],
        )
      }
      async function find(prompt: string, maxAgeSeconds: number | null = null) {
        const { semantic, ...ask } = rewordedSearch(prompt, place)
        const asked = semantic && { ...semantic, topicWords: [2], comparesNewest: false, hasVerdicts: true }
        const found = await searchCache(database, { ...ask, maxAgeSeconds, semantic: asked })
        return found.map(row => row.match !== 'exact' && [row.match, row.prompt, row.similarity])
      }
      return { database, place, prompts, hashesOf, say, find }
    }

    test('whatever their topic words, in either order, and no other', async () => {
      const { prompts, hashesOf, say, find } = await open()
      expect(new Set(prompts.map(prompt => hashesOf(prompt)[0] === sha256(prompt))).size).toBe(2)
      for (const prompt of prompts) {
        expect(await find(prompt)).toEqual([])
        await say(prompt, {})
        expect(await find(prompt)).toEqual([['confirmed', prompt, 0.1]])
        expect(await find(prompt, 0)).toEqual([])
      }
    })

    test('in that context of that project, and by no other caller', async () => {
      const { database, prompts, say, find } = await open()
      const elsewhere = await createTestProject(database, 'elsewhere')
      for (const prompt of prompts) {
        await say(prompt, { of: { projectId: elsewhere } })
        await say(prompt, { of: { context: 'another' } })
        for (const source of ['judge', 'review']) await say(prompt, { source })
        expect(await find(prompt)).toEqual([])
      }
    })

    test('unless a person called them different later, anywhere in the project', async () => {
      const { database, prompts, say, find } = await open()
      const different = { verdict: 'different', given: `now() + interval '1 s'` }
      const elsewhere = await createTestProject(database, 'elsewhere')
      for (const prompt of prompts) {
        await say(prompt, {})
        await say(prompt, { ...different, of: { projectId: elsewhere } })
        await say(prompt, { ...different, of: { context: 'another' }, source: 'judge' })
        await say(prompt, { ...different, of: { context: 'another' }, given: `now() - interval '1 s'` })
        expect(await find(prompt)).toEqual([['confirmed', prompt, 0.1]])
        await say(prompt, { ...different, of: { context: 'another' } })
        expect(await find(prompt)).toEqual([])
      }
    })

    test('and what is similar, with the verdict on it: a judge’s in its context, a person’s “different” in each', async () => {
      const { database, place, prompts, say } = await open()
      const elsewhere = { projectId: await createTestProject(database, 'elsewhere') }
      const another = { context: 'another' }
      const different = { verdict: 'different' }
      for (const prompt of prompts) {
        const verdict = async () => {
          const [row] = await searchCache(database, rewordedSearch(prompt, place))
          return row?.match === 'similar' && [row.verdict_source, row.verdict]
        }
        for (const source of ['judge', 'review']) await say(prompt, { of: another, source, ...different })
        await say(prompt, { of: another })
        for (const source of ['judge', 'person']) await say(prompt, { of: elsewhere, source, ...different })
        expect(await verdict()).toEqual([null, null])
        await say(prompt, { source: 'judge' })
        expect(await verdict()).toEqual(['judge', 'same'])
        await say(prompt, { of: another, ...different })
        expect(await verdict()).toEqual(['person', 'different'])
      }
    })
  })
})
