/** Finds stored answers, and opens what is sealed of them: what no key opens is as if it were not stored. */
import type { Database } from '../postgres/database.ts'
import {
  type CacheMatchRow,
  type CacheSearch,
  type CacheSearchResult,
  searchCacheBatch,
} from '../postgres/search-cache.ts'
import type { ContentSeal } from '../stores/content-seal.ts'

export type ResponseFinder = (asks: readonly CacheSearch[]) => Promise<CacheSearchResult[]>

export function createResponseFinder(database: Database, seal: ContentSeal): ResponseFinder {
  function open(row: CacheMatchRow, projectId: number): CacheMatchRow | null {
    const text = row.match === 'exact' ? row.response : row.prompt
    const opened = seal.openText(text, projectId)
    if (opened === text) return row
    if (opened === null) return null
    return row.match === 'exact' ? { ...row, response: opened } : { ...row, prompt: opened }
  }

  return async asks => {
    const found = await searchCacheBatch(database, asks)
    for (const [place, at] of found.entries()) {
      const { projectId } = asks[place] as CacheSearch
      at.matches = at.matches.map(row => open(row, projectId)).filter(row => row !== null)
    }
    return found
  }
}
