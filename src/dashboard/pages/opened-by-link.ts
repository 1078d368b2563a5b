/** Links that open a dialog or menu of a page, such as `settings/keys?open=create`. */
import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { type Filters, useFilters } from './filters.ts'

/**
 * Calls `open` when the URL has `?open=NAME` with one of the names, and removes it, so that a reload does not open it again. While `isReady`
 * is false, it waits.
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
