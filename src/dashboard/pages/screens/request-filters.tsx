/** The filters of the request list, and the API query that they produce. */
import { useMemo } from 'react'
import { Button } from '../components/elements.tsx'
import { Select, type SelectOption } from '../components/select.tsx'
import { FILTER_CLASS, TextFilter } from '../components/text-filter.tsx'
import type { Filters } from '../filters.ts'
import { parseLocalTime } from '../time-range.ts'
import type { ApiKey } from '../types.ts'
import { RemoveFilterButton } from './remove-filter-button.tsx'
import { CACHE_RESULT_TITLES } from './result-badge.tsx'
import { TimeRangeFields } from './time-range-fields.tsx'

const RESULTS: SelectOption[] = [['', 'Any cache result'], ...CACHE_RESULT_TITLES]
const OUTCOMES: SelectOption[] = [
  ['', 'Any outcome'],
  ['ok', 'Succeeded'],
  ['failed', 'Failed'],
  ['estimated', 'With estimated cost'],
]
const KEY_TYPES: SelectOption[] = [
  ['', 'Any key type'],
  ['project', 'Project keys'],
  ['test', 'Test keys'],
]
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
const RANGE_CHOICES: SelectOption[] = [
  ...Object.entries(RANGES).map(([name, { title }]) => [name, title] as const),
  ['own', 'Custom range'],
]
/** Text filters: the parameter in the URL, the parameter of the API, and the label. */
const TEXT_FILTERS = [
  ['model', 'model', 'Model contains'],
  ['status', 'status', 'Status'],
  ['error', 'error_code', 'Error code'],
  ['endpoint', 'endpoint', 'Endpoint'],
  ['provider', 'provider', 'Provider'],
  ['user', 'end_user', 'End user'],
  ['tag', 'tags', 'Tag (name=value)'],
  ['request', 'request_id', 'Request ID'],
  ['asked', 'asked_id', 'Request fingerprint'],
  ['session', 'session', 'Session'],
] as const
const NO_FILTERS = Object.fromEntries(
  [
    ...['result', 'outcome', 'key', 'type', 'model_name', 'span', 'from', 'until', 'sort'],
    ...TEXT_FILTERS.map(([name]) => name),
  ].map(name => [name, '']),
)

/** Builds the query of the admin API. The time range is computed only when its filters change, so that the query stays equal. */
export function useRequestQuery(filters: Filters, projectId: string | undefined) {
  const { span = '', from, until } = filters
  const [start, end] = useMemo(() => {
    const now = Math.floor(Date.now() / 1000)
    if (span === 'own') return [parseLocalTime(from) ?? now - 86_400, parseLocalTime(until)]
    return [now - (RANGES[span] ?? { seconds: 86_400 }).seconds, undefined]
  }, [span, from, until])
  return {
    project_id: projectId,
    start_time: start,
    end_time: end,
    cache_result: filters.result,
    outcome: filters.outcome,
    api_key_id: filters.key,
    key_type: filters.type,
    model_name: filters.model_name,
    sort: filters.sort,
    ...Object.fromEntries(TEXT_FILTERS.map(([name, parameter]) => [parameter, filters[name]])),
  }
}

export function isFiltered(filters: Filters): boolean {
  return Object.keys(NO_FILTERS).some(name => filters[name])
}

interface RequestFiltersProps {
  filters: Filters
  change(changes: Filters): void
  keys: readonly ApiKey[]
}

export function RequestFilters({ filters, change, keys }: RequestFiltersProps) {
  const select = (name: string, label: string, choices: readonly SelectOption[]) => (
    <Select
      aria-label={label}
      className={FILTER_CLASS}
      choices={choices}
      value={filters[name] ?? ''}
      onChange={value => change({ [name]: value })}
    />
  )
  return (
    <search className="mb-4 grid grid-cols-2 items-center gap-2 sm:flex sm:flex-wrap">
      {select('span', 'Period', RANGE_CHOICES)}
      <TimeRangeFields filters={filters} change={change} />
      {select('result', 'Cache result', RESULTS)}
      {select('outcome', 'Outcome', OUTCOMES)}
      {select('key', 'API key', [['', 'Any key'], ...keys.map(key => [key.id, key.name] as const)])}
      {select('type', 'Key type', KEY_TYPES)}
      {select('sort', 'Sort by', ORDERS)}
      {filters.model_name && <RemoveFilterButton name="model_name" what="model" filters={filters} change={change} />}
      {TEXT_FILTERS.map(([name, , label]) => (
        <TextFilter key={name} label={label} value={filters[name]} onChange={value => change({ [name]: value })} />
      ))}
      {isFiltered(filters) && (
        <Button look="quiet" onClick={() => change(NO_FILTERS)}>
          Clear filters
        </Button>
      )}
    </search>
  )
}
