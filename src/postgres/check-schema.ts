/** Compares the schema of a database with this version's: a dump may have been restored in part, or somebody may have changed something. */
import type { Database } from './database.ts'
import { describeSchema, parseSchema, readFingerprint, type SchemaItem } from './describe-schema.ts'
import { readSqlFile } from './migration-files.ts'

/** `found` is null where it is missing, `needed` where it must not be. */
export interface SchemaDifference extends Pick<SchemaItem, 'object' | 'item'> {
  expected: string | null
  actual: string | null
}

export interface SchemaCheck {
  /** Goes into the ledger when nothing differs: the next start compares no more than this. */
  fingerprint: string
  /** The schema's name, quoted where SQL needs that. */
  schema: string
  differences: SchemaDifference[]
}

/** Up to this version of PostgreSQL, definitions are known to be printed alike. */
const NEWEST_KNOWN_VERSION = 18

/** Null when nothing has changed since the check that left this fingerprint. `isNew`: whoever asks has just created all of it. */
export async function checkSchema(
  database: Database,
  checked: string | undefined,
  isNew: boolean,
): Promise<SchemaCheck | null> {
  const { fingerprint, schema, version } = await readFingerprint(database)
  if (fingerprint === checked) return null
  if (isNew) return { fingerprint, schema, differences: [] }
  const [text, live] = await Promise.all([readSqlFile('schema.txt'), describeSchema(database)])
  const distributed = await listDistributed(database)
  const differences = compareSchemas(parseSchema(text), live).filter(
    difference => !isCausedByDistribution(difference, distributed),
  )
  const isPrintKnown = version <= NEWEST_KNOWN_VERSION
  return { fingerprint, schema, differences: differences.filter(({ actual }) => isPrintKnown || actual === null) }
}

/** Tables that scripts/distribute.sql has spread over the workers of a Citus cluster. */
async function listDistributed(database: Database): Promise<string[]> {
  const [citus] = await database.call<{ is: boolean }>(`select to_regclass('pg_dist_partition') is not null as is`, [])
  if (!citus?.is) return []
  const rows = await database.call<{ name: string }>(
    'select logicalrelid::regclass::text as name from pg_dist_partition',
    [],
  )
  return rows.map(({ name }) => name)
}

/** A distributed table has neither foreign keys nor policies: see scripts/distribute.sql. */
export function isCausedByDistribution(
  { object, item, expected }: SchemaDifference,
  distributed: readonly string[],
): boolean {
  const isDropped = item.startsWith('policy ') || /^FOREIGN KEY/.test(expected ?? '') || item.startsWith('trigger ')
  return isDropped && distributed.some(name => object === `table ${name}`)
}

/** What is there beside the schema is an operator's, and no difference, unless it opens or shuts rows. */
export function compareSchemas(needed: readonly SchemaItem[], live: readonly SchemaItem[]): SchemaDifference[] {
  const keyOf = ({ object, item }: SchemaItem) => `${object} ${item}`
  const found = new Map(live.map(item => [keyOf(item), item.definition]))
  const objects = new Set(live.map(({ object }) => object))
  const known = new Set(needed.map(keyOf))
  const ours = new Set(needed.map(({ object }) => object))
  // Of the schema itself there are only grants.
  objects.add('schema')
  const lost = [...ours].filter(object => !objects.has(object))
  const differing = needed
    .filter(item => objects.has(item.object) && !isAsNeeded(item, found.get(keyOf(item)), known))
    .map(({ object, item, definition }) => ({
      ...{ object, item, expected: definition },
      actual: found.get(`${object} ${item}`) ?? null,
    }))
  const added = live
    .filter(item => ours.has(item.object) && !known.has(keyOf(item)) && opensOrShutsRows(item))
    .map(({ object, item, definition }) => ({ object, item, expected: null, actual: definition }))
  return [...lost.map(object => ({ object, item: '', expected: '', actual: null })), ...differing, ...added]
}

/** A grant of columns may have more: an operator's, or a later release's. */
function isAsNeeded(
  { object, item, definition }: SchemaItem,
  found: string | undefined,
  known: ReadonlySet<string>,
): boolean {
  if (found === undefined || found === definition || !item.startsWith('grant ')) return found === definition
  const [needed, granted] = [definition, found].map(columns => columns.split(', '))
  const isOurs = (column: string) => known.has(`${object} column ${column}`)
  return (
    needed?.every(column => granted?.includes(column)) === true &&
    !granted?.some(column => !needed.includes(column) && isOurs(column))
  )
}

/** Rights of the dashboard's role, and row security that binds the owner too. */
function opensOrShutsRows({ item, definition }: SchemaItem): boolean {
  return item.startsWith('grant ') || (item === 'row security' && definition === 'forced')
}
