/**
 * Lets SQL of tests use table names without their schema. The product's own SQL never does: `statements.test.ts` prepares it without a
 * search path.
 */

/** Applies to all later sessions in this database. The embedded database has this setting already. */
export function nameTablesIn(database: string): string {
  return `alter database ${database} set search_path = model_proxy, public`
}
