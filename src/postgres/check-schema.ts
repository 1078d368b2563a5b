/** Compares the schema of a database with this version's: a dump may have been restored in part, or somebody may have changed something. */
import type { Database } from './database.ts'
import { describeSchema, readFingerprint, readSchema, type SchemaItem } from './describe-schema.ts'
import { readSql } from './migration-files.ts'

/** `found` is null where it is missing, `needed` where it must not be. */
export interface Difference extends Pick<SchemaItem, 'object' | 'item'> {
  needed: string | null
  found: string | null
}

export interface SchemaCheck {
  /** Goes into the ledger when nothing differs: the next start compares no more than this. */
  fingerprint: string
  /** The schema's name, quoted where SQL needs that. */
  schema: string
  differences: Difference[]
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
  const [text, live] = await Promise.all([readSql('schema.txt'), describeSchema(database)])
  const differences = compareSchemas(readSchema(text), live)
  const isPrintKnown = version <= NEWEST_KNOWN_VERSION
  return { fingerprint, schema, differences: differences.filter(({ found }) => isPrintKnown || found === null) }
}

/** What is there beside the schema is an operator's, and no difference, unless it opens or shuts rows. */
export function compareSchemas(needed: readonly SchemaItem[], live: readonly SchemaItem[]): Difference[] {
  const keyOf = ({ object, item }: SchemaItem) => `${object} ${item}`
  const found = new Map(live.map(item => [keyOf(item), item.definition]))
  const objects = new Set(live.map(({ object }) => object))
  const known = new Set(needed.map(keyOf))
  const ours = new Set(needed.map(({ object }) => object))
  // Of the schema itself there are only grants.
  objects.add('schema')
  const lost = [...ours].filter(object => !objects.has(object))
  const differing = needed
    .filter(item => objects.has(item.object) && found.get(keyOf(item)) !== item.definition)
    .map(({ object, item, definition }) => ({
      ...{ object, item, needed: definition },
      found: found.get(`${object} ${item}`) ?? null,
    }))
  const added = live
    .filter(item => ours.has(item.object) && !known.has(keyOf(item)) && opensOrShutsRows(item))
    .map(({ object, item, definition }) => ({ object, item, needed: null, found: definition }))
  return [...lost.map(object => ({ object, item: '', needed: '', found: null })), ...differing, ...added]
}

/** Rights of the dashboard's role, and row security that binds the owner too. */
function opensOrShutsRows({ item, definition }: SchemaItem): boolean {
  return item.startsWith('grant ') || (item === 'row security' && definition === 'forced')
}
