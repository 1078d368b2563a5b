/** The filters of the request list, and the API query that they produce. */
import { useMemo, useState } from 'react'
import { Button } from '../components/elements.tsx'
import { FILTER_CLASS, Select, type SelectOption } from '../components/fields.tsx'
import { type Filters, useOpenedByLink } from '../filters.ts'
import { PHONE, useMediaQuery } from '../media-query.ts'
import { parseLocalTime } from '../time-range.ts'
import { REQUEST_FILTER_KINDS, RequestFilterMenu } from './request-filter-kinds.tsx'
import { PeriodControl } from './toolbar.tsx'

const ORDERS: SelectOption[] = [
  ['', 'Newest first'],
  ['slowest', 'Slowest first'],
  ['dearest', 'Most expensive first'],
]
/** Predefined time ranges with their length in seconds. A custom range is not listed. */
const RANGES: Record<string, { title: string; seconds: number }> = {
  hour: { title: 'Last hour', seconds: 3_600 },
  day: { title: 'Last 24 hours', seconds: 86_400 },
  '': { title: 'Last 7 days', seconds: 7 * 86_400 },
  month: { title: 'Last 30 days', seconds: 30 * 86_400 },
  all: { title: 'Last 13 months', seconds: 400 * 86_400 },
}
const RANGE_CHOICES: SelectOption[] = Object.entries(RANGES).map(([name, { title }]) => [name, title])
/** The parameters of the API that have another name than the filter in the URL. */
const PARAMETERS: Record<string, string> = {
  result: 'cache_result',
  error: 'error_code',
  key: 'api_key_id',
  type: 'key_type',
  user: 'end_user',
  tag: 'tags',
  request: 'request_id',
  asked: 'asked_id',
}
const KIND_NAMES = REQUEST_FILTER_KINDS.map(({ name }) => name)
/** The filters in the URL that a saved view contains. */
export const VIEW_FILTERS = [...KIND_NAMES, 'span', 'from', 'until', 'sort']
/** Removes all filters. */
export const NO_FILTERS = Object.fromEntries(VIEW_FILTERS.map(name => [name, '']))

/** Builds the query of the admin API. The time range is computed only when its filters change, so that the query stays equal. */
export function useRequestQuery(filters: Filters, projectId: string | undefined) {
  const { span = '', from, until, request } = filters
  const [start, end] = useMemo(() => {
    // A request is found by its id at any age.
    if (request) return [undefined, undefined]
    const now = Math.floor(Date.now() / 1000)
    if (span === 'own') return [parseLocalTime(from) ?? now - 86_400, parseLocalTime(until)]
    return [now - (RANGES[span] ?? { seconds: 86_400 }).seconds, undefined]
  }, [span, from, until, request])
  return {
    project_id: projectId,
    start_time: start,
    end_time: end,
    sort: filters.sort,
    ...Object.fromEntries(KIND_NAMES.map(name => [PARAMETERS[name] ?? name, filters[name]])),
  }
}

export function isFiltered(filters: Filters): boolean {
  return VIEW_FILTERS.some(name => filters[name])
}

interface RequestFiltersProps {
  filters: Filters
  change(changes: Filters): void
  query: ReturnType<typeof useRequestQuery>
}

export function RequestFilters({ filters, change, query }: RequestFiltersProps) {
  const [openAt, setOpenAt] = useState<string | null>(null)
  useOpenedByLink(KIND_NAMES, setOpenAt)
  const isPhone = useMediaQuery(PHONE)
  return (
    <search className="flex min-w-0 flex-wrap items-center gap-2">
      {!filters.request && <PeriodControl filters={filters} change={change} ranges={RANGE_CHOICES} />}
      <RequestFilterMenu
        filters={filters}
        change={change}
        definitions={REQUEST_FILTER_KINDS}
        span={query}
        openAt={openAt}
        onOpenChange={setOpenAt}
      >
        {isPhone && (
          <Select
            aria-label="Sort by"
            className={FILTER_CLASS}
            choices={ORDERS}
            value={filters.sort ?? ''}
            onChange={sort => change({ sort })}
          />
        )}
      </RequestFilterMenu>
      {isFiltered(filters) && (
        <Button look="quiet" onClick={() => change(NO_FILTERS)}>
          Clear
        </Button>
      )}
    </search>
  )
}
