/** Loads a list one page at a time, and keeps its newest page fresh. */
import { type InfiniteData, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { fetchJson, type QueryParameters } from './api.ts'
import type { ApiPage } from './types.ts'

/** Asks again for all whose addresses begin so. */
export function useInvalidateQueries(starts: readonly string[]): () => Promise<void> {
  const queries = useQueryClient()
  return () =>
    queries.invalidateQueries({
      predicate: ({ queryKey }) => starts.some(start => String(queryKey[0]).startsWith(start)),
    })
}

/** `refetchMs`: for lists whose newest items come first, or which are one page. */
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
      queries.setQueryData<InfiniteData<ApiPage<Item>>>(queryKey, known => known && withNewest(known, fresh))
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
 * Puts the newest page before what is known of it already. If so much is new that the two do not meet, or if it is the whole list, only the
 * newest page is kept.
 */
function withNewest<Item extends { id: string }>(
  known: InfiniteData<ApiPage<Item>>,
  fresh: ApiPage<Item>,
): InfiniteData<ApiPage<Item>> {
  const [first, ...rest] = known.pages
  const ids = new Set(fresh.data.map(({ id }) => id))
  const older = first?.data.filter(({ id }) => !ids.has(id)) ?? []
  if (!first || !fresh.has_more || older.length === first.data.length) {
    return { pages: [fresh], pageParams: known.pageParams.slice(0, 1) }
  }
  return { ...known, pages: [{ ...first, data: [...fresh.data, ...older] }, ...rest] }
}
