/** Holds a database's answers to the types of its functions: no test of a type can tell what may be null, but every test's rows can. */

import type { Database } from '../../src/postgres/database.ts'
import { SQL_FUNCTIONS } from '../../src/postgres/functions.generated.ts'

/** Found in this worker: who calls may take a failure for an outage, so they are told at the end, too. */
export const nullsFound = new Set<string>()

type Caller = Pick<Database, 'call'>

/** The same database, whose calls reject where a function returns a null of which its comment says nothing. */
export function holdToTypes<Held extends Caller>(database: Held): Held {
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
    nullsFound.add(`${name}() returns null as ${column}`)
    throw new Error(
      `${name}() returns null as ${column}: its comment has to say so, in a sentence “Null: ${column} (why).”`,
    )
  }
}
