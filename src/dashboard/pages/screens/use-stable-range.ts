/** The time range of a list as the query of the API. */
import { useMemo } from 'react'
import type { Filters } from '../filters.ts'
import { readTimeRange } from '../time-range.ts'

/** Returns a time range that changes only with its filters, so that the query of a list, and its pages, stay equal. */
export function useStableRange({ span, from, until }: Filters): { start_time: number; end_time: number } {
  return useMemo(() => {
    const range = readTimeRange({ span, from, until })
    return { start_time: range.from, end_time: range.until }
  }, [span, from, until])
}
