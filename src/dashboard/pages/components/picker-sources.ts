/** What pickers choose from: names that the server searches for, and lists that the page already has. */
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { fetchJson } from '../api.ts'
import { useModelRoutes } from '../routes.ts'
import type { Name } from '../types.ts'
import type { PickerOption } from './option-list.tsx'
import type { FoundOptions, PickerSource } from './use-picker.ts'

const MAX_SHOWN = 50
const MAX_SEARCH_LENGTH = 256
/** The pause in typing after which the server is asked. */
const PAUSE_MS = 150

const NOUNS = {
  api_key: 'API key',
  end_user: 'end user',
  model: 'model',
  project: 'project',
  tag: 'tag',
  user: 'user',
} as const
type Kind = keyof typeof NOUNS

/** Searches for names on the server. `projectId` is null for kinds that all projects share. */
export function searchNames(kind: Kind, projectId: string | null): PickerSource {
  return { noun: NOUNS[kind], useOptions: (search, isOpen) => useNames(kind, projectId, search, isOpen) }
}

/** Chooses from a complete list. */
export function searchList(noun: string, list: readonly (string | PickerOption)[]): PickerSource {
  const options = list.map(option => (typeof option === 'string' ? { value: option, name: option } : option))
  return { noun, useOptions: search => filterOptions(options, search) }
}

/** The models that the project can use or has used. Another name is accepted, because a provider may add models at any time. */
export function searchModels(projectId: string): PickerSource {
  return { noun: 'model', allowsNew: true, useOptions: (search, isOpen) => useModels(projectId, search, isOpen) }
}

export const searchTimeZones = (): PickerSource =>
  searchList('time zone', ['UTC', ...Intl.supportedValuesOf('timeZone').filter(zone => zone !== 'UTC')])

function useNames(kind: Kind, projectId: string | null, search: string, isOpen: boolean): FoundOptions {
  const settled = useSettled(search.slice(0, MAX_SEARCH_LENGTH))
  const query = { kind, project_id: projectId ?? undefined, search: settled, limit: MAX_SHOWN }
  const names = useQuery({
    queryKey: ['/v1/organization/names', query],
    queryFn: () => fetchJson<{ data: Name[]; has_more: boolean }>('/v1/organization/names', query),
    enabled: isOpen || search !== '',
    placeholderData: previous => previous,
  })
  // While the server searches, the matches of the last search are narrowed down here.
  const options = names.data && filterOptions(names.data.data, search).options
  const isOutdated = settled !== search.slice(0, MAX_SEARCH_LENGTH) || names.isPlaceholderData
  return {
    options: isOutdated && options?.length === 0 ? undefined : options,
    hasMore: names.data?.has_more ?? false,
    error: names.error,
  }
}

function useModels(projectId: string, search: string, isOpen: boolean): FoundOptions {
  const routes = useModelRoutes(projectId, {}, isOpen || search !== '')
  const used = useNames('model', projectId, '', isOpen || search !== '')
  if (routes.data === undefined || used.options === undefined)
    return { options: undefined, hasMore: false, error: routes.error ?? used.error }
  const usedModels = new Set(used.options.map(({ value }) => value))
  const others = routes.data.flatMap(({ id, provider }) =>
    usedModels.has(id) ? [] : [{ value: id, name: id, detail: provider }],
  )
  const options = [...used.options.map(option => ({ ...option, detail: 'used' })), ...others]
  return filterOptions(options, search)
}

/** Keeps the order, but shows names that begin with the search first. */
function filterOptions(options: readonly PickerOption[], search: string): FoundOptions {
  const sought = search.toLowerCase()
  const matches = options.filter(({ value, name, detail }) =>
    [value, name, detail ?? ''].some(text => text.toLowerCase().includes(sought)),
  )
  const begins = ({ name }: PickerOption) => Number(name.toLowerCase().startsWith(sought))
  const sorted = sought === '' ? matches : matches.toSorted((a, b) => begins(b) - begins(a))
  return { options: sorted.slice(0, MAX_SHOWN), hasMore: sorted.length > MAX_SHOWN, error: null }
}

/** Returns the text after a pause in typing. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}
