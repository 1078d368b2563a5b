/** What narrows the overview down: a span of one's own, a key, a model, a tag; and whether test keys count. */
import { Button, Name } from '../components/basics.tsx'
import { Select } from '../components/select.tsx'
import { FILTER } from '../components/text-filter.tsx'
import type { Filters } from '../filters.ts'
import { isolated } from '../format.ts'
import { useAllKeys } from '../session.ts'
import { SpanEnds } from './span-ends.tsx'

interface OverviewFiltersProps {
  filters: Filters
  change(changes: Filters): void
  projectId: string | undefined
}

export function OverviewFilters({ filters, change, projectId }: OverviewFiltersProps) {
  const keys = useAllKeys(projectId) ?? []
  return (
    <search className="mb-4 flex flex-wrap items-center gap-x-3 gap-y-2">
      <SpanEnds filters={filters} change={change} />
      <Select
        aria-label="API key"
        className={FILTER}
        choices={[['', 'All keys'], ...keys.map(key => [key.id, key.name] as const)]}
        value={filters.key ?? ''}
        onChange={key => change({ key })}
      />
      {!filters.key && (
        <label className="flex min-h-9 items-center gap-2 text-muted">
          <input
            type="checkbox"
            className="size-4 accent-(--accent)"
            checked={filters.tests === 'true'}
            onChange={event => change({ tests: event.target.checked ? 'true' : '' })}
          />
          With test keys
        </label>
      )}
      {(['model', 'tag'] as const).map(
        name =>
          filters[name] && (
            <Button
              key={name}
              onClick={() => change({ [name]: '' })}
              aria-label={`Show all ${name}s, not ${isolated(filters[name])} alone`}
            >
              <Name className="font-mono text-xs">{filters[name]}</Name> ×
            </Button>
          ),
      )}
    </search>
  )
}
