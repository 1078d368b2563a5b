/** Loads a list one page at a time. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { get } from './api.ts'
import type { Page } from './types.ts'

type Query = Record<string, string | number | boolean | undefined>

export function usePaged<Item>(
  path: string,
  query: Query = {},
  options: { refetchMs?: number; enabled?: boolean } = {},
) {
  const list = useInfiniteQuery({
    queryKey: [path, query],
    queryFn: ({ pageParam }) => get<Page<Item>>(path, { ...query, after: pageParam }),
    enabled: options.enabled ?? true,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: page => (page.has_more ? (page.last_id ?? undefined) : undefined),
    ...(options.refetchMs === undefined ? {} : { refetchInterval: options.refetchMs }),
  })
  return {
    rows: list.data?.pages.flatMap(page => page.data),
    error: list.error,
    more: list.hasNextPage ? { pending: list.isFetchingNextPage, load: () => void list.fetchNextPage() } : null,
  }
}
