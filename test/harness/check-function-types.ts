/** Checks the results of SQL functions against their generated types. The types come from comments, which cannot be checked otherwise. */

import type { Database } from '../../src/postgres/database.ts'
import { SQL_FUNCTIONS } from '../../src/postgres/functions.generated.ts'

/** Nulls found in this worker. They are reported again at the end of the file, because a caller can treat the error as an outage. */
export const undeclaredNulls = new Set<string>()

type Caller = Pick<Database, 'call'>

/** Returns the same database. Its calls reject if a function returns a null that its comment does not document. */
export function checkFunctionTypes<Held extends Caller>(database: Held): Held {
  const call: Database['call'] = async (text, values) => {
    const rows = await database.call<never>(text, values)
    check(text, rows)
    return rows
  }
  return new Proxy(database, {
    get: (held, name) => (name === 'call' ? call : Reflect.get(held, name)),
  })
}

function check(text: string, rows: readonly Record<string, unknown>[]): void {
  const name = /^select (?:\* from )?model_proxy\.([a-z_]+)\(/.exec(text)?.[1]
  if (name === undefined || !(name in SQL_FUNCTIONS)) return
  const { gives }: { gives: string | Record<string, string> } = SQL_FUNCTIONS[name as keyof typeof SQL_FUNCTIONS]
  const columns = typeof gives === 'string' ? { result: gives } : gives
  for (const [column, type] of Object.entries(columns)) {
    if (type === 'void' || type.endsWith('?') || !rows.some(row => row[column] === null)) continue
    undeclaredNulls.add(`${name}() returns null as ${column}`)
    throw new Error(
      `${name}() returns null as ${column}: its comment has to say so, in a sentence “Null: ${column} (why).”`,
    )
  }
}
