/** Reads the views that the admin API shows: one reader for lists and single objects, with their filters, order and cursors. */
import { encodeValue } from '../wire-format.ts'
import { type Actor, runAs } from './call-as.ts'
import { VIEWS } from './views.generated.ts'
import type { Below, Filter, Shown, ViewName } from './views.ts'

export interface Page {
  /** The `_id` behind which the page begins, in its order. */
  after?: number | undefined
  /** The `_id` before which it ends. */
  before?: number | undefined
  newestFirst?: boolean | undefined
  /** All, if left out. */
  size?: number
}

export async function readView<Name extends ViewName>(
  actor: Actor,
  view: Name,
  filter: Filter<Name>,
  { after, before, newestFirst = false, size }: Page = {},
): Promise<Shown<Name>[]> {
  const { columns, hidden } = VIEWS[view]
  const wanted = Object.entries<unknown>(filter).filter(([, value]) => value !== undefined)
  const { writeViewQuery }: typeof import('./view-query.ts') = require('./view-query.ts')
  const statement = writeViewQuery(actor.database.queries, {
    view,
    columns: Object.keys(columns),
    hidden,
    filter: wanted.map(([column, value]) => ({ column, by: comparisonOf(value) })),
    isDescending: newestFirst,
    cursors: [...(after === undefined ? [] : ['after' as const]), ...(before === undefined ? [] : ['before' as const])],
    isLimited: size !== undefined,
  })
  const values = Object.fromEntries(
    wanted.map(([column, value]) => [column, encodeValue(isBelow(value) ? value.below : value)]),
  )
  const rows = await runAs<Shown<Name>>(actor, statement, { ...values, after, before, size }, { reads: true })
  return before === undefined ? rows : rows.reverse()
}

function comparisonOf(value: unknown): 'value' | 'list' | 'below' | 'none' {
  if (value === null) return 'none'
  if (Array.isArray(value)) return 'list'
  return isBelow(value) ? 'below' : 'value'
}

function isBelow(value: unknown): value is Below {
  return typeof value === 'object' && value !== null && 'below' in value
}
