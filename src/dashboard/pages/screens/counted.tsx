/** Numbers that are links to the very requests that they count. */
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Filters } from '../filters.ts'
import type { ShownSpan } from '../span.ts'

/** Requests of a project, by the filters of their list. */
export interface Rows {
  projectId: string
  filters: Filters
}

/** Those that an overview counts. A list without an end goes on, as the overview does. */
export function rowsOf(projectId: string, { key, model, tag, until }: Filters, span: ShownSpan, keyType = ''): Rows {
  const end = span.name === 'own' && until ? span.until : undefined
  const ends = { span: 'own', from: String(span.from), until: end?.toString() }
  return { projectId, filters: { ...ends, key, type: keyType, model_name: model, tag } }
}

/** `only`: what narrows them further. */
export function Counted({ rows, only, children }: { rows: Rows; only?: Filters; children: ReactNode }) {
  // The router puts text that could be a number in quotation marks.
  const given = Object.entries({ ...rows.filters, ...only })
    .filter(([, value]) => value)
    .map(([name, value = '']) => [name, /^[1-9]\d{0,14}$/.test(value) ? Number(value) : value])
  return (
    <Link
      to={`/${rows.projectId}/requests` as never}
      search={Object.fromEntries(given) as never}
      className="underline decoration-muted decoration-1 underline-offset-3 hover:text-accent hover:decoration-current"
    >
      {children}
    </Link>
  )
}
