/** The filter menu of the overview, and its active filters: API key, model and tag. It is loaded when it is first needed. */
import { useState } from 'react'
import type { Filters } from '../filters.ts'
import type { TimeRange } from '../time-range.ts'
import { REQUEST_FILTER_KINDS, RequestFilterMenu } from './request-filter-kinds.tsx'

/** The filters of requests that the overview has, too. Here `model` is a whole name. */
const KINDS = ['key', 'model_name', 'tag'].flatMap(name =>
  REQUEST_FILTER_KINDS.filter(kind => kind.name === name).map(kind =>
    name === 'model_name' ? { ...kind, name: 'model' } : kind,
  ),
)

export interface OverviewFilterMenuProps {
  filters: Filters
  change(changes: Filters): void
  projectId: string | undefined
  span: TimeRange
  /** Whether the menu is open at first, because it was loaded for a click. */
  isOpened: boolean
}

export default function OverviewFilterMenu({ filters, change, projectId, span, isOpened }: OverviewFilterMenuProps) {
  const [openAt, setOpenAt] = useState<string | null>(isOpened ? '' : null)
  // An open range ends now: its end would change with each refresh.
  const ends = { start_time: span.from, end_time: span.name === 'own' && filters.until ? span.until : undefined }
  return (
    <RequestFilterMenu
      filters={filters}
      change={change}
      definitions={KINDS}
      span={{ project_id: projectId, ...ends }}
      openAt={openAt}
      onOpenChange={setOpenAt}
    />
  )
}
