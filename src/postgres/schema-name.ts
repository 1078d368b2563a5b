/** The name of the proxy's schema, and its replacement in SQL where another name is configured. */

/** The name that sql/ and all statements use. It has no other meaning there. */
export const SCHEMA_NAME = 'model_proxy'

/** Matches the name. Kysely quotes it. */
const SCHEMA_PATTERN = new RegExp(`"${SCHEMA_NAME}"|\\b${SCHEMA_NAME}\\b`, 'g')

/** Returns the SQL with `schema` in place of the default name. */
export function replaceSchemaName(text: string, schema: string): string {
  return schema === SCHEMA_NAME ? text : text.replace(SCHEMA_PATTERN, `"${schema}"`)
}
