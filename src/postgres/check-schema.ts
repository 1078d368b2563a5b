/** Compares what a database has with what this version needs: a dump may have been restored in part, and its ledger with it. */
import { basename } from 'node:path'
import type { Database } from './database.ts'
import { type DeployedFile, readSql } from './migration-files.ts'

const FIND_ROUTINES = `
select p.proname as name from pg_proc p where p.pronamespace = to_regnamespace('model_proxy')
union
select c.relname from pg_class c where c.relnamespace = to_regnamespace('model_proxy') and c.relkind = 'v'`
const FIND_COLUMNS = `
select c.relname || '.' || a.attname as name
from pg_class c
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
where c.relnamespace = to_regnamespace('model_proxy') and c.relkind in ('r', 'p')`

/** Whether functions or views are missing: they can be deployed again. Throws when tables are, or columns: what they held is gone. */
export async function lacksFunctions(database: Database, deployed: readonly DeployedFile[]): Promise<boolean> {
  const [routines, columns, needed] = await Promise.all([
    namesOf(database, FIND_ROUTINES),
    namesOf(database, FIND_COLUMNS),
    readColumns(),
  ])
  const lost = needed.filter(name => !columns.has(name))
  if (lost.length > 0) throw new Error(tellLost(lost))
  const isThere = (name: string) => routines.has(basename(name, '.sql'))
  const isRows = (folder: string) => folder === 'seed' || folder === 'settings'
  return deployed.some(({ folder, name }) => !isRows(folder) && !isThere(name))
}

function tellLost([first, ...more]: readonly string[]): string {
  const lost = `${first}${more.length > 0 ? ` and ${more.length} more` : ''}`
  return `The database lacks ${lost}: it was restored in part. Restore it whole, as docs/production.md says under "Backups".`
}

async function namesOf(database: Database, text: string): Promise<Set<string>> {
  const rows = await database.call<{ name: string }>(text, [])
  return new Set(rows.map(({ name }) => name))
}

/** From the description of the schema: a part for each table, its columns first, in small letters. */
async function readColumns(): Promise<string[]> {
  const parts = (await readSql('schema.txt')).split('\n\n').filter(part => part.startsWith('table '))
  return parts.flatMap(part => {
    const [, table] = /^table (\w+)/.exec(part) ?? []
    return Array.from(part.matchAll(/^ {4}([a-z_]+) /gm), ([, column]) => `${table}.${column}`)
  })
}
