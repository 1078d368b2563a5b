/** A filter that another page or a click has set: what it is, and the way out of it. */
import { Button, Name } from '../components/basics.tsx'
import type { Filters } from '../filters.ts'
import { isolated } from '../format.ts'

interface WithoutFilterProps {
  name: string
  /** Of which all are shown without it, in the singular. */
  what: string
  filters: Filters
  change(changes: Filters): void
}

export function WithoutFilter({ name, what, filters, change }: WithoutFilterProps) {
  const value = filters[name] ?? ''
  return (
    <Button onClick={() => change({ [name]: '' })} aria-label={`Show all ${what}s, not ${isolated(value)} alone`}>
      <Name className="font-mono text-xs">{value}</Name> ×
    </Button>
  )
}
