/** A database whose schema has another name than the one that every statement writes. */
import type { Database } from './database.ts'
import { replaceSchemaName, SCHEMA_NAME } from './schema-name.ts'

/** The same database, asked about this schema. */
export function withSchema(database: Database, schema: string): Database {
  if (schema === SCHEMA_NAME) return database
  const named: Partial<Database> = {
    call: callIn(database, schema),
    runScript: text => database.runScript(replaceSchemaName(text, schema)),
    runScripts: scripts =>
      database.runScripts(scripts.map(({ name, text }) => ({ name, text: replaceSchemaName(text, schema) }))),
    get readReplica() {
      return { call: callIn(database.readReplica, schema) }
    },
    get operatorDatabase() {
      return database.operatorDatabase === database ? wrapped : withSchema(database.operatorDatabase, schema)
    },
  }
  const wrapped: Database = Object.create(database, Object.getOwnPropertyDescriptors(named))
  return wrapped
}

/** Statements are a few dozen constant texts. */
function callIn(database: Pick<Database, 'call'>, schema: string): Database['call'] {
  const known = new Map<string, string>()
  return (text, values, options) => {
    const named = known.get(text) ?? replaceSchemaName(text, schema)
    known.set(text, named)
    return database.call(named, values, options)
  }
}
