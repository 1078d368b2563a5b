import postgres from 'postgres'
import { beforeAll, describe, expect, test } from 'vitest'
import { callFunction } from '../../src/postgres/call.ts'
import type { Database } from '../../src/postgres/database.ts'
import { storeCachedResponses } from '../../src/postgres/store-cached-responses.ts'
import { encodeValue, toByteaList, WIRE_TYPES } from '../../src/postgres/wire-format.ts'
import { describeReal } from '../harness/backends.ts'
import {
  type CacheLocation,
  cacheEntryFor,
  createEmbeddingSpace,
  createTestProject,
  rewordedSearch,
  searchCache,
  storePrompts,
} from '../harness/cached-responses.ts'

const PROJECTS = 300
const CONTEXTS = 10

/** Many projects and contexts, and one group of a thousand prompts: with few rows per group, a planner prefers another index. */
async function fill(database: Database, place: CacheLocation): Promise<void> {
  await storePrompts(database, place, 0, 700)
  await database.runScript(`
    insert into projects (name, plan) select 'p' || i, 'free' from generate_series(1, ${PROJECTS}) i;
    insert into cache_entries (project_id, request_hash, endpoint, model, provider, response, expires_at, bytes)
    select p.id, sha256(convert_to(p.id || ' ' || i, 'utf8')), 'chat', 'm', 'p', '{}', now() + interval '1 h', 300
    from projects p, generate_series(1, ${CONTEXTS * 5}) i where p.name like 'p%';
    insert into cache_prompts (entry_id, project_id, context_hash, normalized_hash, prompt, space_id, embedding, created_at, expires_at)
    select e.id, e.project_id, sha256(convert_to((e.id % ${CONTEXTS})::text, 'utf8')), e.request_hash, 'x', ${place.spaceId},
      (select p.embedding from cache_prompts p where p.prompt = 'prompt 1'), e.created_at, e.expires_at
    from cache_entries e join projects p on p.id = e.project_id where p.name like 'p%';
    insert into cached_vectors (project_id, name, vector, prompt_tokens, response_model, expires_at)
    select p.id, sha256(convert_to(p.id || ' ' || i, 'utf8')), '', 1, 'm', now() + interval '1 h'
    from projects p, generate_series(1, ${CONTEXTS * 5}) i;
  `)
}

async function makePlace(database: Database): Promise<CacheLocation> {
  return {
    projectId: await createTestProject(database, 'acme'),
    spaceId: await createEmbeddingSpace(database),
    context: 'none',
  }
}

/** When the plans are made: with filled and analyzed tables, or with empty ones. */
type Planned = 'over full tables' | 'over empty ones'
const WAYS: Planned[] = ['over full tables', 'over empty ones']

type Call = (database: Database, place: CacheLocation) => Promise<unknown>

/** Returns the scans of each call over the filled tables. All calls share one filling, which takes far longer than they do. */
async function scansOf<Name extends string>(
  { database, databaseUrl }: { database: Database; databaseUrl: string | null },
  planned: Planned,
  calls: Record<Name, Call>,
): Promise<Record<Name, string[]>> {
  const place = await makePlace(database)
  const named = Object.entries<Call>(calls)
  const scans = await explain(databaseUrl ?? '', async (one, takePlans) => {
    if (planned === 'over empty ones') {
      // Autovacuum may do this at any time: an emptied table keeps its pages until then, and is planned for as if they were full.
      await database.runScript('vacuum analyze')
      // The connection caches its plans from here on: stored rows do not change them.
      for (const [, call] of named) await call(one, place)
    }
    await fill(database, place)
    if (planned === 'over full tables') await database.runScript('analyze')
    takePlans()
    const read: [string, string[]][] = []
    for (const [name, call] of named) {
      await call(one, place)
      read.push([name, readScans(takePlans())])
    }
    return read
  })
  return Object.fromEntries(scans) as Record<Name, string[]>
}

/** Runs calls on one connection that logs the plan of every statement inside functions. Returns the plans since the last call. */
async function explain<Result>(
  url: string,
  run: (database: Database, takePlans: () => string[]) => Promise<Result>,
): Promise<Result> {
  const plans: string[] = []
  const client = postgres(url, { max: 1, types: WIRE_TYPES, onnotice: notice => plans.push(notice.message ?? '') })
  await client.unsafe(`load 'auto_explain'`)
  await client.unsafe(
    'set auto_explain.log_min_duration = 0; set auto_explain.log_nested_statements = on; set auto_explain.log_level = notice',
  )
  const call = (text: string, values: unknown[]) => client.unsafe(text, values.map(encodeValue))
  const result = await run({ call } as unknown as Database, () => plans.splice(0))
  await client.end()
  return result
}

/** The indexes by which rows are found, and the tables that are read completely. */
function readScans(plans: readonly string[]): string[] {
  const scans = plans
    .join('\n')
    .matchAll(
      /(?:Index (?:Only )?Scan(?: Backward)? using|Bitmap Index Scan on) (?<index>\w+)|Seq Scan on (?<whole>\w+)/g,
    )
  const names = [...scans].map(({ groups }) => groups?.index ?? `all of ${groups?.whole}`)
  return [...new Set(names)].sort()
}

const CALLS = {
  lookup(one, place) {
    const { semantic, ...ask } = rewordedSearch('prompt 590', place)
    return searchCache(one, { ...ask, semantic: semantic && { ...semantic, hasVerdicts: true } })
  },
  lookupByWords(one, place) {
    const { semantic, ...ask } = rewordedSearch('prompt 590', place)
    return searchCache(one, {
      ...ask,
      semantic: semantic && { ...semantic, topicWords: [1, 2, 3], comparesNewest: false },
    })
  },
  vectors: (one, { projectId }) =>
    callFunction(one, 'find_vectors', {
      of_project: projectId,
      by_names: toByteaList(['00'.repeat(32), 'ff'.repeat(32)]),
      max_age_seconds: null,
    }),
  // The last call, because it changes the tables.
  storing: (one, place) =>
    storeCachedResponses(one, [cacheEntryFor('prompt 590', place), cacheEntryFor('prompt 1001', place)]),
} satisfies Record<string, Call>

describeReal('query plans of the cache', backend => {
  describe.each(WAYS)('planned %s', planned => {
    let scans: Record<keyof typeof CALLS, string[]>
    beforeAll(async () => {
      scans = await scansOf(await backend.open(), planned, CALLS)
    })

    test('a lookup in a large group uses its indexes', () => {
      expect(scans.lookup).toEqual([
        'cache_entries_pkey',
        'cache_entries_project_id_request_hash_key',
        'cache_prompts_name_key_idx',
        'cache_prompts_newest_idx',
        'cache_prompts_pkey',
        'cache_prompts_word1_idx',
        'cache_prompts_word2_idx',
        'cache_prompts_word3_idx',
        'cache_verdicts_pkey',
        'cache_verdicts_same_by_person_idx',
      ])
    })

    test('a lookup by topic words uses their indexes', () => {
      expect(scans.lookupByWords.filter(name => name.startsWith('all of'))).toEqual([])
      for (const place of [1, 2, 3]) expect(scans.lookupByWords).toContain(`cache_prompts_word${place}_idx`)
    })

    test('finds vectors by their names', () => {
      expect(scans.vectors).toEqual(['cached_vectors_pkey'])
    })

    test('storing reads only the rows concerned', () => {
      const ofCache = scans.storing.filter(name => name.includes('cache_'))
      expect(ofCache).not.toEqual([])
      expect(ofCache.filter(name => name.startsWith('all of'))).toEqual([])
      expect(ofCache).not.toContain('cache_prompts_newest_idx')
    })
  })
})
