/** What views show: types alone, which the dashboard's pages use in the browser. */
import type { Static, TObject } from '@sinclair/typebox'
import type { VIEWS } from './views.generated.ts'

export type ViewName = keyof typeof VIEWS
/** One object. */
export type Shown<Name extends ViewName> = Static<TObject<(typeof VIEWS)[Name]['columns']>>
/** From one value on, and until before another. */
export interface Range {
  from?: string | undefined
  until?: string | undefined
}
/** Hidden columns, each with a value, a list of values, a range or null; undefined selects nothing. */
export type Filter<Name extends ViewName> = { readonly [Column in keyof (typeof VIEWS)[Name]['hidden']]?: unknown }
