/** Wraps a database so that statements use another schema name than the default. */
import type { Database } from './database.ts'
import { replaceSchemaName, SCHEMA_NAME } from './schema-name.ts'

/** Returns the same database, with all statements rewritten for this schema. */
export function withSchema(database: Database, schema: string): Database {
  if (schema === SCHEMA_NAME) return database
  const overrides: Partial<Database> = {
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
  const wrapped: Database = Object.create(database, Object.getOwnPropertyDescriptors(overrides))
  return wrapped
}

/** Rewrites each statement once. Statements are a few dozen constant texts. */
function callIn(database: Pick<Database, 'call'>, schema: string): Database['call'] {
  const known = new Map<string, string>()
  return (text, values, options) => {
    const rewritten = known.get(text) ?? replaceSchemaName(text, schema)
    known.set(text, rewritten)
    return database.call(rewritten, values, options)
  }
}
