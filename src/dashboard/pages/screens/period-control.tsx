/** Selects the time range of a page, stored as filters in the URL. */
import { SegmentedControl } from '../components/segmented-control.tsx'
import type { Filters } from '../filters.ts'
import { readTimeRange, TIME_RANGES } from '../time-range.ts'

export function PeriodControl({ filters, change }: { filters: Filters; change(changes: Filters): void }) {
  return (
    <SegmentedControl
      label="Period"
      value={readTimeRange(filters).name}
      choices={[
        ...Object.entries(TIME_RANGES).map(([value, { title }]) => [value, title] as const),
        ['own', 'Custom range'],
      ]}
      onChange={value => change({ span: value === 'day' ? '' : value, from: '', until: '' })}
    />
  )
}
