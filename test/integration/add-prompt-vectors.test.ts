import { expect, test } from 'vitest'
import { callFunction } from '../../src/postgres/call.ts'
import { type CacheSearch, searchCacheBatch } from '../../src/postgres/search-cache.ts'
import { addPromptVectors, storeCachedResponses } from '../../src/postgres/store-cached-responses.ts'
import { describeBackends } from '../harness/backends.ts'
import {
  cacheEntryFor,
  createEmbeddingSpace,
  createTestProject,
  rewordedSearch,
  sha256,
  vectorOf,
} from '../harness/cached-responses.ts'

type Compared = NonNullable<CacheSearch['semantic']>

describeBackends('add_prompt_vectors()', backend => {
  /** Stores a prompt without its vector. `added` is the vector that can be added to it. */
  async function open(topicWords: readonly number[] = []) {
    const { database } = await backend.open()
    const spaceId = await createEmbeddingSpace(database)
    const place = { projectId: await createTestProject(database, 'acme'), spaceId, context: 'context' }
    const { semantic, ...answer } = cacheEntryFor('prompt', place)
    if (!semantic) throw new Error('the response has no prompt')
    const { contextHash, normalizedHash } = semantic
    const late = { ...answer, semantic: { ...semantic, topicWords, vector: { spaceId, text: null } } }
    const [entryId] = await storeCachedResponses(database, [late])
    const vector = { spaceId, text: vectorOf('prompt') }
    const ask = rewordedSearch('prompt', place)
    const toAsk = (compared: Partial<Compared>, projectId = place.projectId) => ({
      ...ask,
      projectId,
      semantic: { ...(ask.semantic as Compared), ...compared },
    })
    return {
      database,
      late,
      added: { entryId: entryId ?? 0, projectId: place.projectId, contextHash, normalizedHash, vector },
      toAsk,
      kinds: async (compared: Partial<Compared> = {}) => {
        const [found] = await searchCacheBatch(database, [toAsk(compared)])
        return found?.matches.map(({ match }) => match)
      },
      isOpen: async (compared: Partial<Compared> = {}, projectId?: number) => {
        const search = toAsk({ vector: { spaceId, text: null }, ...compared }, projectId)
        return (await searchCacheBatch(database, [search]))[0]?.hasCandidates
      },
      stored: () =>
        database.call(
          `select e.bytes, p.created_at = e.created_at as is_of_then from cache_entries e join cache_prompts p on p.entry_id = e.id`,
          [],
        ),
    }
  }

  test('adds a vector to an entry, which its name finds before', async () => {
    const { database, added, kinds, stored } = await open()
    expect([await kinds(), await kinds({ ...added, vector: null })]).toEqual([[], ['normalized']])
    const before = await stored()
    await addPromptVectors(database, [added, added])
    expect(await kinds()).toEqual(['similar'])
    expect(await stored()).toEqual(before)
    // The recorded size includes the vector before it is added.
    expect(before).toEqual([{ is_of_then: true, bytes: expect.toSatisfy((bytes: number) => bytes > 1024 + 2 * 64) }])
  })

  test('skips entries of other projects, contexts and texts, and those that are gone, expired, or have a vector', async () => {
    const { database, late, added, kinds } = await open()
    const elsewhere = { projectId: await createTestProject(database, 'elsewhere') }
    for (const wrong of [elsewhere, { contextHash: sha256('x') }, { normalizedHash: sha256('x') }, { entryId: 0 }])
      await addPromptVectors(database, [{ ...added, ...wrong }])
    await database.call(`update cache_prompts set expires_at = now()`, [])
    await addPromptVectors(database, [added])
    await database.call(`update cache_prompts set expires_at = now() + interval '1 h'`, [])
    expect(await kinds()).toEqual([])
    await addPromptVectors(database, [added])
    const opposite = { ...added.vector, text: vectorOf('another prompt') }
    await addPromptVectors(database, [{ ...added, vector: opposite }])
    expect(await kinds()).toEqual(['similar'])
    await callFunction(database, 'purge_cache', { project: 'acme' })
    await storeCachedResponses(database, [{ ...late, requestHash: sha256('another request') }])
    await addPromptVectors(database, [added])
    expect(await kinds()).toEqual([])
  })

  test('an entry that is stored again keeps its vector until the next arrives, unless its text differs', async () => {
    const { database, late, added, kinds } = await open()
    await addPromptVectors(database, [added])
    await storeCachedResponses(database, [late])
    expect(await kinds()).toEqual(['similar'])
    await storeCachedResponses(database, [{ ...late, semantic: { ...late.semantic, normalizedHash: sha256('x') } }])
    expect(await kinds()).toEqual([])
  })

  test.each([{ comparesNewest: true }, { topicWords: [9, 2], comparesNewest: false }])(
    'candidates that need a vector are known without one: %o',
    async byWords => {
      const { database, added, toAsk, isOpen } = await open([1, 2, -3])
      expect(await isOpen(byWords)).toBe(false)
      await addPromptVectors(database, [added])
      expect([await isOpen(byWords), await isOpen()]).toEqual([true, true])
      expect(await isOpen({ ...byWords, vector: null })).toBe(false)
      expect(await isOpen({ ...byWords, contextHash: sha256('another') })).toBe(false)
      expect(await isOpen({ ...byWords, vector: { spaceId: added.vector.spaceId + 1, text: null } })).toBe(false)
      expect(await isOpen(byWords, added.projectId + 1)).toBe(false)
      expect(await isOpen({ topicWords: [9], comparesNewest: false })).toBe(false)
      for (const word of [1, 2, -3]) expect(await isOpen({ topicWords: [word], comparesNewest: false })).toBe(true)
      const searches = [toAsk({}), toAsk({ ...byWords, vector: { ...added.vector, text: null } })]
      expect(
        (await searchCacheBatch(database, searches)).map(found => [found.hasCandidates, found.matches.length]),
      ).toEqual([
        [false, 1],
        [true, 0],
      ])
    },
  )
})
