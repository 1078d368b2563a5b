/** Queries of the admin API's lists, and what is refetched after a change. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { QueryParameters } from './api.ts'
import type { ApiPage } from './types.ts'

interface RowsOptions {
  /** By default, the rows are loaded at once. */
  enabled?: boolean
  refetchInterval?: number
  staleTime?: number
}

/** Queries the rows of a list that has one page only. */
export function useRows<Row>(path: string, query: QueryParameters = {}, options: RowsOptions = {}) {
  return useQuery<ApiPage<Row>, Error, Row[]>({ queryKey: [path, query], select: page => page.data, ...options })
}

/** Returns a function that refetches all queries whose path has one of the prefixes. */
export function useInvalidateQueries(prefixes: readonly string[]): () => Promise<void> {
  const queries = useQueryClient()
  return () =>
    queries.invalidateQueries({
      predicate: ({ queryKey }) => prefixes.some(prefix => String(queryKey[0]).startsWith(prefix)),
    })
}
