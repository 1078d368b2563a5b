/** A database whose schema has another name than the one that every statement writes. */
import type { Database } from './database.ts'
import { nameSchema, SCHEMA } from './schema.ts'

/** The same database, asked about this schema. */
export function inSchema(database: Database, schema: string): Database {
  if (schema === SCHEMA) return database
  const named: Partial<Database> = {
    call: callIn(database, schema),
    runScript: text => database.runScript(nameSchema(text, schema)),
    runScripts: scripts =>
      database.runScripts(scripts.map(({ name, text }) => ({ name, text: nameSchema(text, schema) }))),
    get lagging() {
      return { call: callIn(database.lagging, schema) }
    },
    get aside() {
      return database.aside === database ? wrapped : inSchema(database.aside, schema)
    },
  }
  const wrapped: Database = Object.create(database, Object.getOwnPropertyDescriptors(named))
  return wrapped
}

/** Statements are a few dozen constant texts. */
function callIn(database: Pick<Database, 'call'>, schema: string): Database['call'] {
  const known = new Map<string, string>()
  return (text, values, options) => {
    const named = known.get(text) ?? nameSchema(text, schema)
    known.set(text, named)
    return database.call(named, values, options)
  }
}
