/** Finds cached responses and opens sealed content. An entry that no key opens is omitted. */
import type { Database } from '../postgres/database.ts'
import {
  type CacheMatchRow,
  type CacheSearch,
  type CacheSearchResult,
  searchCacheBatch,
} from '../postgres/search-cache.ts'
import type { ContentSeal } from '../stores/content-seal.ts'

export type ResponseFinder = (searches: readonly CacheSearch[]) => Promise<CacheSearchResult[]>

export function createResponseFinder(database: Database, seal: ContentSeal): ResponseFinder {
  function open(row: CacheMatchRow, projectId: number): CacheMatchRow | null {
    const text = row.match === 'exact' ? row.response : row.prompt
    const opened = seal.openText(text, projectId)
    if (opened === text) return row
    if (opened === null) return null
    return row.match === 'exact' ? { ...row, response: opened } : { ...row, prompt: opened }
  }

  return async searches => {
    const found = await searchCacheBatch(database, searches)
    for (const [index, result] of found.entries()) {
      const { projectId } = searches[index] as CacheSearch
      result.matches = result.matches.map(row => open(row, projectId)).filter(row => row !== null)
    }
    return found
  }
}
