/** What narrows the list of requests down, and the query that it comes to. */
import { useMemo } from 'react'
import { Button } from '../components/elements.tsx'
import { Select, type SelectOption } from '../components/select.tsx'
import { FILTER_CLASS, TextFilter } from '../components/text-filter.tsx'
import type { Filters } from '../filters.ts'
import { parseLocalTime } from '../time-range.ts'
import type { ApiKey } from '../types.ts'
import { RemoveFilterButton } from './remove-filter-button.tsx'
import { TimeRangeFields } from './time-range-fields.tsx'

const RESULTS: SelectOption[] = [
  ['', 'Any result'],
  ['HIT', 'Exact hit'],
  ['HIT-SEMANTIC', 'Semantic hit'],
  ['MISS', 'Miss'],
]
const OUTCOMES: SelectOption[] = [
  ['', 'Any outcome'],
  ['ok', 'Answered'],
  ['failed', 'Failed'],
  ['estimated', 'Estimated cost'],
]
const KEY_TYPES: SelectOption[] = [
  ['', 'Any type of key'],
  ['project', 'Project keys'],
  ['test', 'Test keys'],
]
const ORDERS: SelectOption[] = [
  ['', 'Newest first'],
  ['slowest', 'Slowest first'],
  ['dearest', 'Dearest first'],
]
/** In seconds. A span that is given by its ends has none. */
const SPANS: Record<string, { title: string; seconds: number }> = {
  hour: { title: 'Last hour', seconds: 3_600 },
  day: { title: '24 hours', seconds: 86_400 },
  '': { title: '7 days', seconds: 7 * 86_400 },
  month: { title: '30 days', seconds: 30 * 86_400 },
  all: { title: '13 months', seconds: 400 * 86_400 },
}
const SPAN_CHOICES: SelectOption[] = [
  ...Object.entries(SPANS).map(([name, { title }]) => [name, title] as const),
  ['own', 'From … to …'],
]
/** Filters of one text each: their name in the address, in the query, and on the page. */
const TEXTS = [
  ['model', 'model', 'Part of the model’s name'],
  ['status', 'status', 'Status'],
  ['error', 'error_code', 'Error code'],
  ['endpoint', 'endpoint', 'Endpoint'],
  ['provider', 'provider', 'Provider'],
  ['user', 'end_user', 'End user'],
  ['tag', 'tags', 'Tag: name=value'],
  ['request', 'request_id', 'Request ID'],
] as const
const NONE = Object.fromEntries(
  [
    ...['result', 'outcome', 'key', 'type', 'model_name', 'span', 'from', 'until', 'sort'],
    ...TEXTS.map(([name]) => name),
  ].map(name => [name, '']),
)

/** The admin API's parameters, the same object for the same filters. */
export function useRequestQuery(filters: Filters, projectId: string | undefined) {
  const { span = '', from, until } = filters
  const [start, end] = useMemo(() => {
    const now = Math.floor(Date.now() / 1000)
    if (span === 'own') return [parseLocalTime(from) ?? now - 86_400, parseLocalTime(until)]
    return [now - (SPANS[span] ?? { seconds: 86_400 }).seconds, undefined]
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
    ...Object.fromEntries(TEXTS.map(([name, parameter]) => [parameter, filters[name]])),
  }
}

export function isFiltered(filters: Filters): boolean {
  return Object.keys(NONE).some(name => filters[name])
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
      {select('span', 'Period', SPAN_CHOICES)}
      <TimeRangeFields filters={filters} change={change} />
      {select('result', 'Answered by', RESULTS)}
      {select('outcome', 'Outcome', OUTCOMES)}
      {select('key', 'API key', [['', 'Any key'], ...keys.map(key => [key.id, key.name] as const)])}
      {select('type', 'Type of key', KEY_TYPES)}
      {select('sort', 'Order', ORDERS)}
      {filters.model_name && <RemoveFilterButton name="model_name" what="model" filters={filters} change={change} />}
      {TEXTS.map(([name, , label]) => (
        <TextFilter key={name} label={label} value={filters[name]} onChange={value => change({ [name]: value })} />
      ))}
      {isFiltered(filters) && (
        <Button look="quiet" onClick={() => change(NONE)}>
          Clear
        </Button>
      )}
    </search>
  )
}
