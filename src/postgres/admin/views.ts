/** Types of view rows and filters. The dashboard's pages use them in the browser. */
import type { Static, TObject } from '@sinclair/typebox'
import type { SQL_VIEWS } from './views.generated.ts'

export type ViewName = keyof typeof SQL_VIEWS
/** A row of a view. */
export type ViewRow<Name extends ViewName> = Static<TObject<(typeof SQL_VIEWS)[Name]['columns']>>
/** A range: `from` is inclusive, `until` is exclusive. */
export interface ValueRange {
  from?: string | undefined
  until?: string | undefined
}
/** Conditions on hidden columns: a value, a list of values, a range, or null. An undefined condition is ignored. */
export type ViewFilter<Name extends ViewName> = {
  readonly [Column in keyof (typeof SQL_VIEWS)[Name]['hidden']]?: unknown
}
