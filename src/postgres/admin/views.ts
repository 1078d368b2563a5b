/** What views show: types alone, which the dashboard's pages use in the browser. */
import type { Static, TObject } from '@sinclair/typebox'
import type { SQL_VIEWS } from './views.generated.ts'

export type ViewName = keyof typeof SQL_VIEWS
/** One object. */
export type ViewRow<Name extends ViewName> = Static<TObject<(typeof SQL_VIEWS)[Name]['columns']>>
/** From one value on, and until before another. */
export interface ValueRange {
  from?: string | undefined
  until?: string | undefined
}
/** Hidden columns, each with a value, a list of values, a range or null; undefined selects nothing. */
export type ViewFilter<Name extends ViewName> = {
  readonly [Column in keyof (typeof SQL_VIEWS)[Name]['hidden']]?: unknown
}
