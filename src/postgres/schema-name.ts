/** The schema in which everything of the proxy lives, and how SQL comes to name another one. */

/** As all of sql/ and every statement writes it; the name stands for nothing else there. */
export const SCHEMA_NAME = 'model_proxy'

/** Kysely writes it between quotation marks. */
const WRITTEN = new RegExp(`"${SCHEMA_NAME}"|\\b${SCHEMA_NAME}\\b`, 'g')

/** SQL that is about this schema. */
export function replaceSchemaName(text: string, schema: string): string {
  return schema === SCHEMA_NAME ? text : text.replace(WRITTEN, `"${schema}"`)
}
