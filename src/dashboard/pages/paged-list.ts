/** Loads a list page by page, and refetches its newest page. */
import { type InfiniteData, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { fetchJson, type QueryParameters } from './api.ts'
import type { Filters } from './filters.ts'
import { readTimeRange } from './time-range.ts'
import type { ApiPage } from './types.ts'

interface PagedListOptions<Item> {
  /** The interval between refetches of the newest items. Only for lists with one page, or with the newest items first. */
  refetchMs?: number | undefined
  /** Selects the items that may have been added since the newest loaded one. By default, the whole newest page is refetched. */
  newerThan?: ((newest: Item) => QueryParameters) | undefined
  enabled?: boolean
}

export function usePagedList<Item extends { id: string }>(
  path: string,
  query: QueryParameters = {},
  { refetchMs, newerThan, enabled = true }: PagedListOptions<Item> = {},
) {
  const queries = useQueryClient()
  // Apart from a query of the same list without pages, which has other data.
  const queryKey = [path, query, 'pages']
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
      const first = queries.getQueryData<InfiniteData<ApiPage<Item>>>(queryKey)?.pages[0]?.data[0]
      const since = first && newerThan?.(first)
      const fresh = await fetchJson<ApiPage<Item>>(path, { ...query, ...since })
      queries.setQueryData<InfiniteData<ApiPage<Item>>>(
        queryKey,
        loaded => loaded && mergeNewest(loaded, fresh, since !== undefined),
      )
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

/** A page that is open for days does not grow without end. */
const MAX_FIRST_PAGE = 1_000

/**
 * Merges the newest items into the loaded pages. If the two do not overlap, or if the newest page is the whole list, all other pages are
 * discarded. `isPart` tells that the items are only the newest of their page.
 */
function mergeNewest<Item extends { id: string }>(
  loaded: InfiniteData<ApiPage<Item>>,
  fresh: ApiPage<Item>,
  isPart: boolean,
): InfiniteData<ApiPage<Item>> {
  const [first, ...rest] = loaded.pages
  const ids = new Set(fresh.data.map(({ id }) => id))
  const older = first?.data.filter(({ id }) => !ids.has(id)) ?? []
  const isWhole = !isPart && !fresh.has_more
  const hasGap = fresh.has_more && older.length === first?.data.length
  if (!first || isWhole || hasGap) return { pages: [fresh], pageParams: loaded.pageParams.slice(0, 1) }
  const data = [...fresh.data, ...older]
  // The same object is returned if nothing changed, so that nothing is rendered again.
  if (data.length === first.data.length && data.every((item, at) => item === first.data[at])) return loaded
  if (data.length <= MAX_FIRST_PAGE) return { ...loaded, pages: [{ ...first, data }, ...rest] }
  const kept = data.slice(0, MAX_FIRST_PAGE / 2)
  const page = { ...first, data: kept, has_more: true, last_id: kept.at(-1)?.id ?? null }
  return { pages: [page], pageParams: loaded.pageParams.slice(0, 1) }
}

/** Returns a time range that changes only with its filters, so that the query of a list, and its pages, stay equal. */
export function useStableRange({ span, from, until }: Filters): { start_time: number; end_time: number } {
  return useMemo(() => {
    const range = readTimeRange({ span, from, until })
    return { start_time: range.from, end_time: range.until }
  }, [span, from, until])
}
