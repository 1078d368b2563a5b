/** Responses to store and prompts to search for, in tests of the cache's SQL. */
import { callFunction } from '../../src/postgres/call.ts'
import type { Database } from '../../src/postgres/database.ts'
import { type CacheMatchRow, type CacheSearch, searchCacheBatch } from '../../src/postgres/search-cache.ts'
import { type CacheEntryInput, storeCachedResponses } from '../../src/postgres/store-cached-responses.ts'
import { formatVector } from '../../src/postgres/vectors.ts'

export const DIMENSIONS = 64

export const sha256 = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest('hex')

/**
 * Returns a vector derived from the text. A small `bend` changes it slightly; it stays far more similar to itself than to other texts'
 * vectors.
 */
export function vectorOf(text: string, bend = 0): string {
  let state = Bun.hash.xxHash32(text)
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32 - 0.5
  }
  const vector = Float32Array.from({ length: DIMENSIONS }, next)
  for (let i = 0; i < DIMENSIONS; i += 8) vector[i] = (vector[i] as number) + bend
  return formatVector(vector)
}

export function createTestProject(database: Database, name: string): Promise<number> {
  return callFunction(database, 'create_project', { project: name, plan: 'free' })
}

export function createEmbeddingSpace(database: Database): Promise<number> {
  return callFunction(database, 'register_embedding_space', { model: 'sixty-four', dimensions: DIMENSIONS })
}

export interface CacheLocation {
  projectId: number
  spaceId: number
  context: string
}

export function cacheEntryFor(prompt: string, { projectId, spaceId, context }: CacheLocation): CacheEntryInput {
  return {
    projectId,
    requestHash: sha256(`${context} ${prompt}`),
    namespace: '',
    endpoint: 'chat',
    model: 'm',
    provider: 'p',
    response: `{"to":"${prompt} – “quoted”"}`,
    promptTokens: 1,
    completionTokens: 1,
    ttlSeconds: 600,
    semantic: {
      contextHash: sha256(context),
      normalizedHash: sha256(prompt),
      prompt,
      vector: { spaceId, text: vectorOf(prompt) },
    },
  }
}

/** Returns a search for the same prompt with slightly different words. */
export function rewordedSearch(prompt: string, { projectId, spaceId, context }: CacheLocation): CacheSearch {
  return {
    projectId,
    requestHash: sha256(`never asked ${prompt}`),
    semantic: {
      contextHash: sha256(context),
      normalizedHash: sha256(`never asked ${prompt}`),
      vector: { spaceId, text: vectorOf(prompt, 0.05) },
      comparesNewest: true,
      threshold: 0.95,
    },
    maxAgeSeconds: null,
  }
}

/** Stores prompts `from` to `to`, in batches of 50. */
export async function storePrompts(database: Database, place: CacheLocation, from: number, to: number): Promise<void> {
  for (let start = from; start < to; start += 50) {
    const batch = Array.from({ length: Math.min(50, to - start) }, (_, i) =>
      cacheEntryFor(`prompt ${start + i}`, place),
    )
    await storeCachedResponses(database, batch)
  }
}

/** Runs one search. */
export async function searchCache(database: Database, search: CacheSearch): Promise<CacheMatchRow[]> {
  const [result] = await searchCacheBatch(database, [search])
  return result?.matches ?? []
}
