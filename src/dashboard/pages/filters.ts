/** The filters of a page. They are stored in the URL, so that links can be shared and the back button works. */
import { useNavigate, useSearch } from '@tanstack/react-router'

export type Filters = Record<string, string | undefined>

/** An empty value removes the filter from the URL. */
export function useFilters(): [Filters, (changes: Filters) => void] {
  const filters = useSearch({ strict: false }) as Filters
  const navigate = useNavigate()
  function change(changes: Filters): void {
    const merged = Object.entries({ ...filters, ...changes }).filter(([, value]) => value !== undefined && value !== '')
    void navigate({ to: '.', search: Object.fromEntries(merged) as never })
  }
  return [filters, change]
}
