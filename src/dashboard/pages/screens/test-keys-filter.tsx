/** The filter that includes requests with test keys, which use the sandbox. They are excluded by default. */
import type { Filters } from '../filters.ts'

export function TestKeysFilter({ filters, change }: { filters: Filters; change(changes: Filters): void }) {
  return (
    <label className="flex min-h-9 items-center gap-2 text-muted">
      <input
        type="checkbox"
        className="size-4 accent-(--accent)"
        checked={filters.tests === 'true'}
        onChange={event => change({ tests: event.target.checked ? 'true' : '' })}
      />
      Include test keys
    </label>
  )
}

/** Returns the type of keys that the API selects; undefined for all. */
export function readKeyType(filters: Filters): 'project' | undefined {
  return filters.tests === 'true' ? undefined : 'project'
}
