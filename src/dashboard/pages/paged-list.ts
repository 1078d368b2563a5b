/** Loads a list page by page, and refetches its newest page. */
import { type InfiniteData, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { fetchJson, type QueryParameters } from './api.ts'
import type { ApiPage } from './types.ts'

/** Returns a function that refetches all queries whose path has one of the prefixes. */
export function useInvalidateQueries(prefixes: readonly string[]): () => Promise<void> {
  const queries = useQueryClient()
  return () =>
    queries.invalidateQueries({
      predicate: ({ queryKey }) => prefixes.some(prefix => String(queryKey[0]).startsWith(prefix)),
    })
}

/** `refetchMs` is the interval between refetches of the newest page. Only for lists with one page, or with the newest items first. */
export function usePagedList<Item extends { id: string }>(
  path: string,
  query: QueryParameters = {},
  { refetchMs, enabled = true }: { refetchMs?: number | undefined; enabled?: boolean } = {},
) {
  const queries = useQueryClient()
  const queryKey = [path, query]
  const list = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) => fetchJson<ApiPage<Item>>(path, { ...query, after: pageParam }),
    enabled,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: page => (page.has_more ? (page.last_id ?? undefined) : undefined),
    ...(refetchMs !== undefined && { refetchOnWindowFocus: false, refetchOnReconnect: false }),
  })
  const newest = useQuery({
    queryKey: [...queryKey, 'newest'],
    queryFn: async () => {
      const fresh = await fetchJson<ApiPage<Item>>(path, query)
      queries.setQueryData<InfiniteData<ApiPage<Item>>>(queryKey, loaded => loaded && mergeNewest(loaded, fresh))
      return null
    },
    enabled: enabled && refetchMs !== undefined && list.isSuccess,
    ...(refetchMs !== undefined && { refetchInterval: refetchMs, staleTime: refetchMs }),
  })
  return {
    rows: list.data?.pages.flatMap(page => page.data),
    error: list.error ?? newest.error,
    more: list.hasNextPage ? { pending: list.isFetchingNextPage, load: () => void list.fetchNextPage() } : null,
  }
}

/**
 * Merges the newest page into the loaded pages. If the two do not overlap, or if the newest page is the whole list, all other pages are
 * discarded.
 */
function mergeNewest<Item extends { id: string }>(
  loaded: InfiniteData<ApiPage<Item>>,
  fresh: ApiPage<Item>,
): InfiniteData<ApiPage<Item>> {
  const [first, ...rest] = loaded.pages
  const ids = new Set(fresh.data.map(({ id }) => id))
  const older = first?.data.filter(({ id }) => !ids.has(id)) ?? []
  if (!first || !fresh.has_more || older.length === first.data.length) {
    return { pages: [fresh], pageParams: loaded.pageParams.slice(0, 1) }
  }
  return { ...loaded, pages: [{ ...first, data: [...fresh.data, ...older] }, ...rest] }
}
