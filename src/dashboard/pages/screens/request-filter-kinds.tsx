/** The filters of requests: a menu of kinds with the values that occur in a time range, and the active filters. */
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ActiveFilters, type FilterKind, FilterMenu, type FilterValue } from '../components/filter-menu.tsx'
import type { Filters } from '../filters.ts'
import { formatCount } from '../format.ts'
import { useAllKeys } from '../session.ts'
import type { RequestFilterValue } from '../types.ts'
import { CACHE_RESULT_TITLES } from './result-badge.tsx'

interface KindDefinition {
  /** The name of the filter in the URL. */
  name: string
  title: string
  /** The kind of its values in the API. */
  kind?: string
  /** Values that can always be chosen. */
  fixed?: readonly (readonly [value: string, title: string])[]
  titles?: ReadonlyMap<string, string>
  accepts?(text: string): boolean
}

const OUTCOMES = [
  ['ok', 'Succeeded'],
  ['failed', 'Failed (4xx or 5xx)'],
  ['server_error', '5xx: server or provider error'],
  ['client_error', '4xx: rejected, limited or disconnected'],
  ['estimated', 'With estimated cost'],
] as const
const KEY_TYPES = [
  ['project', 'Project keys'],
  ['test', 'Test keys'],
] as const
/** The longest texts that the API accepts. */
const isShort = (text: string) => text.length <= 256

export const REQUEST_FILTER_KINDS: readonly KindDefinition[] = [
  { name: 'outcome', title: 'Outcome', kind: 'outcome', fixed: OUTCOMES },
  {
    name: 'status',
    title: 'Status code',
    kind: 'status',
    accepts: text => /^[1-5][0-9]{2}$/.test(text),
  },
  { name: 'error', title: 'Error code', kind: 'error_code' },
  { name: 'result', title: 'Cache result', kind: 'cache_result', titles: CACHE_RESULT_TITLES },
  { name: 'model_name', title: 'Model', kind: 'model' },
  { name: 'provider', title: 'Provider', kind: 'provider' },
  { name: 'endpoint', title: 'Endpoint', kind: 'endpoint' },
  { name: 'key', title: 'API key', kind: 'api_key' },
  { name: 'type', title: 'Key type', fixed: KEY_TYPES },
  { name: 'user', title: 'End user', kind: 'end_user', accepts: () => true },
  { name: 'tag', title: 'Tag', kind: 'tag', accepts: text => /^[A-Za-z][A-Za-z0-9_.-]{0,31}=./.test(text) },
  { name: 'request', title: 'Request ID', accepts: isShort },
  { name: 'model', title: 'Model contains', accepts: isShort },
  { name: 'session', title: 'Session', accepts: () => true },
  { name: 'asked', title: 'Request fingerprint', accepts: text => /^[0-9a-f]+$/.test(text) && isShort(text) },
]

const NO_KINDS = Object.fromEntries(REQUEST_FILTER_KINDS.map(({ name }) => [name, '']))

interface RequestFilterMenuProps {
  filters: Filters
  change(changes: Filters): void
  definitions: readonly KindDefinition[]
  /** The values of its requests are listed. */
  span: Span
  /** Where the menu is open, as in FilterMenu. */
  openAt: string | null
  onOpenChange(kind: string | null): void
  /** Between the menu and the active filters. */
  children?: ReactNode
}

export function RequestFilterMenu(props: RequestFilterMenuProps) {
  const { filters, change, definitions, span, openAt, onOpenChange, children } = props
  const { describe, ...kinds } = useFilterKinds(definitions, span, openAt !== null)
  return (
    <>
      <FilterMenu
        {...kinds}
        openAt={openAt}
        onOpenChange={onOpenChange}
        // An id selects one request: other filters could only hide it.
        onChoose={(name, value) => change({ ...(name === 'request' && NO_KINDS), [name]: value })}
      />
      {children}
      <ActiveFilters
        names={definitions.map(({ name }) => name).filter(name => filters[name])}
        describe={name => describe(name, filters[name] ?? '')}
        onChange={onOpenChange}
        onRemove={name => change({ [name]: '' })}
      />
    </>
  )
}

interface Span {
  project_id: string | undefined
  start_time: number | undefined
  end_time: number | undefined
}

/** The kinds of filter with the given names. Their values are fetched while the menu is open. */
function useFilterKinds(names: readonly KindDefinition[], span: Span, isOpen: boolean) {
  const keys = useAllKeys(span.project_id)
  const { project_id, start_time, end_time } = span
  const found = useQuery<{ data: RequestFilterValue[] }>({
    queryKey: ['/v1/requests/filters', { project_id, start_time, end_time }],
    enabled: isOpen && project_id !== undefined,
    staleTime: 30_000,
  })
  const keyTitles = new Map(keys?.map(key => [key.id, key.name]))
  const titlesOf = ({ name, fixed, titles }: KindDefinition) =>
    name === 'key' ? keyTitles : (titles ?? new Map(fixed ?? []))
  const kinds = names.map(
    (definition): FilterKind => ({
      ...definition,
      values: listValues(definition, titlesOf(definition), found.data?.data ?? []),
    }),
  )
  /** Returns the titles of an active filter and its value. */
  function describe(name: string, value: string): [title: string, value: string] {
    const definition = names.find(each => each.name === name)
    return [definition?.title ?? name, (definition && titlesOf(definition).get(value)) ?? value]
  }
  return { kinds, describe, isLoading: found.isLoading, error: found.error }
}

function listValues(
  { kind, fixed }: KindDefinition,
  titles: ReadonlyMap<string, string>,
  found: readonly RequestFilterValue[],
): FilterValue[] {
  const counted = new Map(found.filter(each => each.kind === kind).map(({ value, requests }) => [value, requests]))
  const values = fixed?.map(([value]) => value) ?? [...counted.keys()]
  return values.map(value => {
    const requests = counted.get(value)
    return { value, title: titles.get(value) ?? value, ...(requests != null && { note: formatCount(requests) }) }
  })
}
