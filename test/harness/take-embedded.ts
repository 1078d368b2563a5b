/** One embedded database for all test files of a worker: starting one takes more than a second of processor time, emptying it some milliseconds. */

import { inject } from 'vitest'
import { call } from '../../src/postgres/call.ts'
import type { Database } from '../../src/postgres/database.ts'
import { openEmbeddedDatabase } from '../../src/postgres/embedded/embedded.ts'
import { EMPTIED_TABLES, emptyDatabase } from './empty-database.ts'
import { holdToTypes } from './hold-to-types.ts'

let taken: { database: Database; fingerprint: string } | null = null

/** Emptied; another one where tests have changed what emptying leaves as it is. It is not to be closed. */
export async function takeEmbedded(): Promise<Database> {
  if (taken !== null) {
    const { database, fingerprint } = taken
    await emptyDatabase(database)
    // Nothing else takes dead rows away: an embedded database has no autovacuum.
    await database.runScript(`vacuum ${EMPTIED_TABLES.join(', ')}`)
    if ((await readFingerprint(database)) === fingerprint) return database
    taken = null
    await database.close()
  }
  const template = new Blob([await Bun.file(inject('embeddedTemplate')).bytes()])
  const database = holdToTypes(await openEmbeddedDatabase({ directory: null, psql: null, template }))
  // As each proxy does at its start: else every test of a proxy would change the schema, and cost the next file a database.
  await call(database, 'maintain_usage_partitions', {})
  taken = { database, fingerprint: await readFingerprint(database) }
  return database
}

/** The one that tests of this worker use now; null before any does. */
export function embeddedInUse(): Database | null {
  return taken?.database ?? null
}

/** Seeds, and what was made after the cluster was: the schema, roles. */
const SEEDS = ['models', 'plans', 'service_settings']
const CATALOGUES = ['pg_proc', 'pg_class', 'pg_trigger', 'pg_constraint', 'pg_authid']

/** How many rows there are, and which transaction wrote last: any change shows in one of them. */
async function readFingerprint(database: Database): Promise<string> {
  const kept = [...SEEDS, ...CATALOGUES.map(name => `${name} where oid >= 16384`)]
  const each = kept.map(rows => `select count(*), max(xmin::text::bigint) from ${rows}`)
  return JSON.stringify(await database.call(each.join(' union all '), []))
}
