/** Typed queries of either backend. */
import type { Kysely } from 'kysely'
import type { Database } from './database.ts'
import type { DB } from './types.generated.ts'

const opened = new WeakMap<Database['call'], Kysely<DB>>()

/** Typed queries, sent with this function. Kysely takes four megabytes, so it is loaded when the first query is asked. */
export function queriesOf(call: Database['call']): Kysely<DB> {
  let queries = opened.get(call)
  if (!queries) {
    const { openQueries }: typeof import('./dialect.ts') = require('./dialect.ts')
    queries = openQueries(call)
    opened.set(call, queries)
  }
  return queries
}
