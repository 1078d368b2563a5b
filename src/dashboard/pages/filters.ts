/** The filters of a page. They are stored in the URL, so that links can be shared and the back button works. */
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect } from 'react'

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

/**
 * Follows links that open a dialog or menu of a page, such as `settings/keys?open=create`: calls `open` when the URL has `?open=NAME` with
 * one of the names, and removes it, so that a reload does not open it again. While `isReady` is false, it waits.
 */
export function useOpenedByLink(names: readonly string[], open: (name: string) => void, isReady = true): void {
  const [{ open: name }] = useFilters()
  const navigate = useNavigate()
  const chosen = isReady && name !== undefined && names.includes(name) ? name : null
  useEffect(() => {
    if (chosen === null) return
    open(chosen)
    void navigate({ to: '.', search: ({ open: _, ...filters }: Filters) => filters, replace: true } as never)
  }, [chosen])
}
