/** Shows a filter that has no field of its own, and removes it on a click. */
import { Button, UserText } from '../components/elements.tsx'
import type { Filters } from '../filters.ts'
import { isolateDirection } from '../format.ts'

interface RemoveFilterButtonProps {
  name: string
  /** The filtered property, such as `model`. */
  what: string
  filters: Filters
  change(changes: Filters): void
}

export function RemoveFilterButton({ name, what, filters, change }: RemoveFilterButtonProps) {
  const value = filters[name] ?? ''
  return (
    <Button onClick={() => change({ [name]: '' })} aria-label={`Remove the ${what} filter ${isolateDirection(value)}`}>
      <UserText className="font-mono text-xs">{value}</UserText> ×
    </Button>
  )
}
