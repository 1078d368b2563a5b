/** Links to the views of a page, in a row. The current one is underlined. */
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

export function Tabs({ label, children }: { label: string; children: ReactNode }) {
  return (
    <nav aria-label={label} className="mb-5 flex flex-wrap items-center gap-x-5 border-b border-line">
      {children}
    </nav>
  )
}

interface TabProps {
  to: string
  /** The filters in the URL of the view. */
  search?: Record<string, string>
  isActive: boolean
  children: ReactNode
}

export function Tab({ to, search = {}, isActive, children }: TabProps) {
  return (
    <Link
      to={to as never}
      search={search as never}
      activeOptions={{ exact: true, includeSearch: true }}
      aria-current={isActive ? 'page' : undefined}
      className={`-mb-px min-w-0 border-b-2 py-2 [overflow-wrap:anywhere] ${isActive ? 'border-accent font-medium text-ink' : 'border-transparent text-muted hover:text-ink'}`}
    >
      {children}
    </Link>
  )
}
