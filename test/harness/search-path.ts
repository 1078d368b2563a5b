/** Lets statements of tests name tables without their schema. The product's own never do: `statements.test.ts` prepares them without any search path. */

/** For all sessions that begin later in this database. The embedded one does so by itself. */
export function nameTablesIn(database: string): string {
  return `alter database ${database} set search_path = model_proxy, public`
}
