/** Compares the schema of a database with this version's schema. They differ after a partial restore or a change by hand. */
import type { Database } from './database.ts'
import { describeSchema, parseSchema, readFingerprint, type SchemaItem } from './describe-schema.ts'
import { readSqlFile } from './migration-files.ts'

/** A difference. `actual` is null if the item is missing, `expected` is null if it must not exist. */
export interface SchemaDifference extends Pick<SchemaItem, 'object' | 'item'> {
  expected: string | null
  actual: string | null
}

export interface SchemaCheck {
  /** A fingerprint for the ledger. If it has not changed, the next start skips the comparison. */
  fingerprint: string
  /** The schema's name, quoted if necessary. */
  schema: string
  differences: SchemaDifference[]
}

/** The newest version of PostgreSQL that is known to print definitions in the same way. */
const NEWEST_KNOWN_VERSION = 18

/** Returns null if nothing has changed since the check with the fingerprint `checked`. `isNew` skips the comparison of a schema just created. */
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

/** Returns the tables that scripts/distribute.sql has distributed over a Citus cluster. */
async function listDistributed(database: Database): Promise<string[]> {
  const [citus] = await database.call<{ is: boolean }>(`select to_regclass('pg_dist_partition') is not null as is`, [])
  if (!citus?.is) return []
  const rows = await database.call<{ name: string }>(
    'select logicalrelid::regclass::text as name from pg_dist_partition',
    [],
  )
  return rows.map(({ name }) => name)
}

/** Returns true for a difference that distribution causes: distributed tables have no foreign keys, policies or triggers. */
export function isCausedByDistribution(
  { object, item, expected }: SchemaDifference,
  distributed: readonly string[],
): boolean {
  const isDropped = item.startsWith('policy ') || /^FOREIGN KEY/.test(expected ?? '') || item.startsWith('trigger ')
  return isDropped && distributed.some(name => object === `table ${name}`)
}

/** Compares two schemas. An operator's additional objects are no difference, unless they change which rows are accessible. */
export function compareSchemas(expected: readonly SchemaItem[], live: readonly SchemaItem[]): SchemaDifference[] {
  const keyOf = ({ object, item }: SchemaItem) => `${object} ${item}`
  const found = new Map(live.map(item => [keyOf(item), item.definition]))
  const objects = new Set(live.map(({ object }) => object))
  const known = new Set(expected.map(keyOf))
  const expectedObjects = new Set(expected.map(({ object }) => object))
  // The object `schema` has only grants, and always exists.
  objects.add('schema')
  const missing = [...expectedObjects].filter(object => !objects.has(object))
  const differing = expected
    .filter(item => objects.has(item.object) && !matchesExpected(item, found.get(keyOf(item)), known))
    .map(({ object, item, definition }) => ({
      ...{ object, item, expected: definition },
      actual: found.get(`${object} ${item}`) ?? null,
    }))
  const added = live
    .filter(item => expectedObjects.has(item.object) && !known.has(keyOf(item)) && changesRowAccess(item))
    .map(({ object, item, definition }) => ({ object, item, expected: null, actual: definition }))
  return [...missing.map(object => ({ object, item: '', expected: '', actual: null })), ...differing, ...added]
}

/** Returns true if the item is as expected. A grant may cover further columns, of an operator or a later release. */
function matchesExpected(
  { object, item, definition }: SchemaItem,
  found: string | undefined,
  known: ReadonlySet<string>,
): boolean {
  if (found === undefined || found === definition || !item.startsWith('grant ')) return found === definition
  const [expected, granted] = [definition, found].map(columns => columns.split(', '))
  const isOurs = (column: string) => known.has(`${object} column ${column}`)
  return (
    expected?.every(column => granted?.includes(column)) === true &&
    !granted?.some(column => !expected.includes(column) && isOurs(column))
  )
}

/** Returns true for grants to the dashboard's role, and for row security that also applies to the owner. */
function changesRowAccess({ item, definition }: SchemaItem): boolean {
  return item.startsWith('grant ') || (item === 'row security' && definition === 'forced')
}
