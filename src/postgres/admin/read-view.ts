/** Reads views of the admin API: lists and single objects, with filters, order and cursors. */
import { encodeValue } from '../wire-format.ts'
import { type Actor, runAsActor } from './call-as.ts'
import type { ColumnComparison } from './view-query.ts'
import { SQL_VIEWS } from './views.generated.ts'
import type { ValueRange, ViewFilter, ViewName, ViewRow } from './views.ts'

export interface PageRange {
  /** The `_id` after which the page starts, in its order. */
  after?: number | undefined
  /** The `_id` before which it ends. */
  before?: number | undefined
  newestFirst?: boolean | undefined
  /** The maximum number of rows; all rows if omitted. */
  size?: number
}

export async function readView<Name extends ViewName>(
  actor: Actor,
  view: Name,
  filter: ViewFilter<Name>,
  { after, before, newestFirst = false, size }: PageRange = {},
): Promise<ViewRow<Name>[]> {
  const { columns, hidden } = SQL_VIEWS[view]
  const comparisons = Object.entries<unknown>(filter).flatMap(([column, value]) => toComparisons(column, value))
  const { buildViewQuery }: typeof import('./view-query.ts') = require('./view-query.ts')
  const statement = buildViewQuery({
    view,
    columns: Object.keys(columns),
    hidden,
    filter: comparisons,
    isDescending: newestFirst,
    cursors: [...(after === undefined ? [] : ['after' as const]), ...(before === undefined ? [] : ['before' as const])],
    isLimited: size !== undefined,
  })
  const values = Object.fromEntries(comparisons.map(({ name, value }) => [name, encodeValue(value)]))
  const rows = await runAsActor<ViewRow<Name>>(actor, statement, { ...values, after, before, size }, { reads: true })
  return before === undefined ? rows : rows.reverse()
}

function toComparisons(column: string, value: unknown): (ColumnComparison & { value: unknown })[] {
  if (value === undefined) return []
  if (value === null) return [{ column, operator: 'is not distinct from', name: column, value }]
  if (Array.isArray(value)) return [{ column, operator: 'any', name: column, value }]
  if (typeof value !== 'object') return [{ column, operator: '=', name: column, value }]
  const { from, until } = value as ValueRange
  return [
    { column, operator: '>=' as const, name: `${column}_from`, value: from },
    { column, operator: '<' as const, name: `${column}_until`, value: until },
  ].filter(({ value }) => value !== undefined)
}
