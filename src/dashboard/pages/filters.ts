/** A page's filters, kept in the address so that it can be shared and gone back to. */
import { useNavigate, useSearch } from '@tanstack/react-router'

export type Filters = Record<string, string | undefined>

/** Setting one to the empty text takes it out of the address. */
export function useFilters(): [Filters, (changes: Filters) => void] {
  const filters = useSearch({ strict: false }) as Filters
  const navigate = useNavigate()
  function change(changes: Filters): void {
    const merged = Object.entries({ ...filters, ...changes }).filter(([, value]) => value !== undefined && value !== '')
    void navigate({ to: '.', search: Object.fromEntries(merged) as never, replace: true })
  }
  return [filters, change]
}
