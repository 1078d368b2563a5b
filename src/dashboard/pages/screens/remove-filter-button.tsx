/** A filter that another page or a click has set: what it is, and the way out of it. */
import { Button, UserText } from '../components/elements.tsx'
import type { Filters } from '../filters.ts'
import { isolateDirection } from '../format.ts'

interface WithoutFilterProps {
  name: string
  /** Of which all are shown without it, in the singular. */
  what: string
  filters: Filters
  change(changes: Filters): void
}

export function RemoveFilterButton({ name, what, filters, change }: WithoutFilterProps) {
  const value = filters[name] ?? ''
  return (
    <Button
      onClick={() => change({ [name]: '' })}
      aria-label={`Show all ${what}s, not ${isolateDirection(value)} alone`}
    >
      <UserText className="font-mono text-xs">{value}</UserText> ×
    </Button>
  )
}
