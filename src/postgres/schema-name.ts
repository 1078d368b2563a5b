/** The name of the proxy's schema, and its replacement in SQL where another name is configured. */
import type { Database } from './database.ts'

/** The name that sql/ and all statements use. It has no other meaning there. */
export const SCHEMA_NAME = 'model_proxy'

/** Matches the name. Kysely quotes it. */
const SCHEMA_PATTERN = new RegExp(`"${SCHEMA_NAME}"|\\b${SCHEMA_NAME}\\b`, 'g')

/** Returns the SQL with `schema` in place of the default name. */
function replaceSchemaName(text: string, schema: string): string {
  return schema === SCHEMA_NAME ? text : text.replace(SCHEMA_PATTERN, `"${schema}"`)
}

/** Returns the same database, with all statements rewritten for this schema. */
export function withSchema(database: Database, schema: string): Database {
  if (schema === SCHEMA_NAME) return database
  const overrides: Partial<Database> = {
    call: callIn(database, schema),
    runScript: (text, limitMs) => database.runScript(replaceSchemaName(text, schema), limitMs),
    runScripts: scripts =>
      database.runScripts(scripts.map(({ name, text }) => ({ name, text: replaceSchemaName(text, schema) }))),
    readReplica: { call: callIn(database.readReplica, schema) },
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
  return (text, values) => {
    const rewritten = known.get(text) ?? replaceSchemaName(text, schema)
    known.set(text, rewritten)
    return database.call(rewritten, values)
  }
}
