import { expect, test } from 'vitest'
import { storeCachedResponses } from '../../src/postgres/store-cached-responses.ts'
import { describeBackends } from '../harness/backends.ts'
import {
  cacheEntryFor,
  createEmbeddingSpace,
  createTestProject,
  rewordedSearch,
  searchCache,
} from '../harness/cached-responses.ts'

/** The prompts of a group that are compared without a topic word in common. */
const NEWEST = 512

describeBackends('a search that compares the newest prompts', backend => {
  /** Stores `old` with topic word 1 before, and `new` with topic word 2 after enough others that `old` is the newest but 512. */
  async function open() {
    const { database } = await backend.open()
    const place = {
      projectId: await createTestProject(database, 'acme'),
      spaceId: await createEmbeddingSpace(database),
      context: 'context',
    }
    async function store(prompt: string, topicWords: readonly number[]) {
      const entry = cacheEntryFor(prompt, place)
      await storeCachedResponses(database, [
        { ...entry, semantic: entry.semantic && { ...entry.semantic, topicWords } },
      ])
    }
    await store('old', [1])
    await store('other', [3])
    await database.runScript(`
      insert into cache_entries (project_id, request_hash, endpoint, model, provider, response, expires_at)
      select e.project_id, sha256(convert_to(i::text, 'utf8')), 'chat', 'm', 'p', '{}', e.expires_at
      from cache_prompts e, generate_series(1, ${NEWEST - 2}) i where e.prompt = 'other';
      insert into cache_prompts (entry_id, project_id, context_hash, normalized_hash, prompt, space_id, embedding, created_at, expires_at)
      select e.id, p.project_id, p.context_hash, e.request_hash, 'filler', p.space_id, p.embedding, p.created_at, p.expires_at
      from cache_entries e, cache_prompts p where e.response = '{}' and p.prompt = 'other'
    `)
    const find = async (prompt: string, topicWords: readonly number[], comparesNewest = true) => {
      const { semantic, ...search } = rewordedSearch(prompt, place)
      const found = await searchCache(database, {
        ...search,
        semantic: semantic && { ...semantic, topicWords, comparesNewest },
      })
      return found.map(row => (row.match === 'similar' ? row.prompt : row.match))
    }
    return { database, place, store, find }
  }

  test('finds older ones by a topic word only, and each once', async () => {
    const { store, find } = await open()
    expect(await find('old', [9])).toEqual(['old'])
    await store('new', [2])
    expect([await find('new', [9]), await find('new', [2]), await find('new', [9], false)]).toEqual([
      ['new'],
      ['new'],
      [],
    ])
    expect([await find('old', [9]), await find('old', [9, 1]), await find('old', [])]).toEqual([[], ['old'], []])
  })

  test('finds none of another project, context or space, and none that has expired', async () => {
    const { database, place, find, store } = await open()
    await store('new', [2])
    const elsewhere = { ...place, projectId: await createTestProject(database, 'elsewhere') }
    const another = { ...place, context: 'another' }
    const search = (of: typeof place) => searchCache(database, rewordedSearch('new', of))
    expect([
      await search(elsewhere),
      await search(another),
      await search({ ...place, spaceId: place.spaceId + 1 }),
    ]).toEqual([[], [], []])
    await database.call(`update cache_prompts set expires_at = now() where prompt = 'new'`, [])
    expect(await find('new', [])).toEqual([])
  })
})
