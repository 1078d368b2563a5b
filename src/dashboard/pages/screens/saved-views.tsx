/** Named sets of filters. The browser remembers those of each user and project. */
import { type FormEvent, Fragment, useState } from 'react'
import { Button } from '../components/elements.tsx'
import { Popover } from '../components/popover.tsx'
import { Tab, Tabs } from '../components/tabs.tsx'
import type { Filters } from '../filters.ts'
import { escapeControlCharacters } from '../format.ts'
import { useSession } from '../session.ts'
import { useStoredState } from '../stored-state.ts'
import { isFiltered, VIEW_FILTERS } from './request-filters.tsx'

interface SavedView {
  name: string
  filters: Record<string, string>
}

/** Views that every project has. */
const BUILT_IN: readonly SavedView[] = [
  { name: 'All requests', filters: {} },
  { name: 'Failed', filters: { outcome: 'failed' } },
  { name: 'Slowest', filters: { sort: 'slowest' } },
  { name: 'Most expensive', filters: { sort: 'dearest' } },
]
const MAX_NAME_LENGTH = 40

const isViews = (stored: unknown): stored is SavedView[] =>
  Array.isArray(stored) &&
  stored.every(
    view =>
      typeof view?.name === 'string' &&
      typeof view.filters === 'object' &&
      view.filters !== null &&
      Object.values(view.filters).every(value => typeof value === 'string'),
  )

export function SavedViews({ projectId, filters }: { projectId: string; filters: Filters }) {
  const { data: session } = useSession()
  const storage = `model-proxy-request-views-${session?.user.id ?? ''}-${projectId}`
  const [own, setOwn] = useStoredState<SavedView[]>(storage, [], isViews)
  const current = pickFilters(filters)
  const isActive = (view: SavedView) => formatFilters(view.filters) === formatFilters(current)
  const isKnown = [...BUILT_IN, ...own].some(isActive)
  const tab = (view: SavedView) => (
    <Tab to={`/${projectId}/requests`} search={view.filters} isActive={isActive(view)}>
      <bdi>{escapeControlCharacters(view.name)}</bdi>
    </Tab>
  )
  return (
    <Tabs label="Views">
      {BUILT_IN.map(view => (
        <Fragment key={view.name}>{tab(view)}</Fragment>
      ))}
      {own.map(view => (
        <span key={`own ${view.name}`} className="inline-flex max-w-full items-center">
          {tab(view)}
          {isActive(view) && (
            <button
              type="button"
              aria-label={`Delete the view ${escapeControlCharacters(view.name)}`}
              onClick={() => setOwn(own.filter(each => each.name !== view.name))}
              className="ml-1 min-h-6 min-w-6 rounded-md text-muted hover:bg-sunken hover:text-danger"
            >
              ×
            </button>
          )}
        </span>
      ))}
      {isFiltered(filters) && !isKnown && (
        <SaveView
          onSave={name => setOwn([...own.filter(each => each.name !== name), { name, filters: current }])}
          names={own.map(({ name }) => name)}
        />
      )}
    </Tabs>
  )
}

function SaveView({ onSave, names }: { onSave(name: string): void; names: readonly string[] }) {
  const [isOpen, setOpen] = useState(false)
  const [name, setName] = useState('')
  function save(event: FormEvent): void {
    event.preventDefault()
    if (name.trim() !== '') onSave(name.trim())
  }
  return (
    <Popover label="Save view" title="Save view" isOpen={isOpen} onOpenChange={setOpen}>
      <form onSubmit={save} className="space-y-2 p-3">
        <label className="block">
          <span className="text-xs text-muted">Name</span>
          <input
            // biome-ignore lint/a11y/noAutofocus: the field is the purpose of the panel that the user opened
            autoFocus
            value={name}
            maxLength={MAX_NAME_LENGTH}
            onChange={event => setName(event.target.value)}
            className="mt-1 min-h-9 w-full rounded-lg border border-line bg-surface px-2.5"
          />
        </label>
        <p className="text-xs text-muted">
          {names.includes(name.trim())
            ? 'Replaces the view of this name.'
            : 'Saves the filters and the order, for you, in this browser.'}
        </p>
        <Button look="primary" type="submit" disabled={name.trim() === ''}>
          Save
        </Button>
      </form>
    </Popover>
  )
}

function pickFilters(filters: Filters): Record<string, string> {
  return Object.fromEntries(
    VIEW_FILTERS.flatMap(name => {
      const value = filters[name]
      return value ? [[name, value]] : []
    }),
  )
}

function formatFilters(filters: Record<string, string>): string {
  return JSON.stringify(Object.entries(filters).sort(([a], [b]) => (a < b ? -1 : 1)))
}
