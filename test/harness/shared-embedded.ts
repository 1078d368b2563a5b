/** One embedded database for all test files of a worker: a start takes more than a second of processor time, emptying some milliseconds. */

import { inject } from 'vitest'
import { callFunction } from '../../src/postgres/call.ts'
import type { Database } from '../../src/postgres/database.ts'
import { openEmbeddedDatabase } from '../../src/postgres/embedded/embedded.ts'
import { checkFunctionTypes } from './check-function-types.ts'
import { EMPTIED_TABLES, emptyDatabase } from './empty-database.ts'

interface Taken {
  database: Database
  /** Identifies the schema and roles. A test that changes them makes the next file start a new database. */
  fingerprint: string
  /** Of what is there; what tests add has larger ones. */
  lastOid: number
  seeds: Seed[]
}
interface Seed {
  table: string
  /** All rows of the table, as JSON. */
  rows: string
}

let taken: Taken | null = null

/** Returns the emptied database, or a new one if tests changed the schema or roles. The caller must not close it. */
export async function openSharedEmbedded(): Promise<Database> {
  if (taken !== null) {
    const { database, fingerprint, lastOid, seeds } = taken
    await emptyDatabase(database)
    await dropAdded(database, lastOid)
    // An embedded database has no autovacuum, so dead rows are removed here.
    await database.runScript(`vacuum ${EMPTIED_TABLES.join(', ')}`)
    if ((await readFingerprint(database)) === fingerprint) {
      for (const seed of seeds) await restoreSeed(database, seed)
      return database
    }
    taken = null
    await database.close()
  }
  const template = new Blob([await Bun.file(inject('embeddedTemplate')).bytes()])
  const database = checkFunctionTypes(await openEmbeddedDatabase({ directory: null, psql: null, template }))
  // Each proxy does this at its start. Otherwise every test of a proxy would change the schema, and the next file would start a new
  // database.
  await callFunction(database, 'maintain_usage_partitions', {})
  const seeds = await Promise.all(SEEDED_TABLES.map(table => readSeed(database, table)))
  taken = { database, fingerprint: await readFingerprint(database), lastOid: await readLastOid(database), seeds }
  return database
}

/** Returns the database that tests of this worker use now; null before the first use. */
export function currentEmbeddedDatabase(): Database | null {
  return taken?.database ?? null
}

const SEEDED_TABLES = ['models', 'model_prices', 'model_unit_prices', 'plans', 'service_settings']
/** Objects that were created after initdb count: their oid is 16384 or above. */
const CATALOGUES = ['pg_proc', 'pg_class', 'pg_trigger', 'pg_constraint', 'pg_authid']

/** Reads the number of rows and the last transaction that wrote. Any change alters one of them. */
async function readFingerprint(database: Database): Promise<string> {
  const each = CATALOGUES.map(name => `select count(*), max(xmin::text::bigint) from ${name} where oid >= 16384`)
  return JSON.stringify(await database.call(each.join(' union all '), []))
}

async function readLastOid(database: Database): Promise<number> {
  const [last] = await database.call<{ oid: number }>(
    'select greatest((select max(oid) from pg_class), (select max(oid) from pg_proc))::bigint as oid',
    [],
  )
  return last?.oid ?? 0
}

/** Partitions, and what tests watch tables with. */
async function dropAdded(database: Database, lastOid: number): Promise<void> {
  const added = await database.call<{ drop: string }>(
    `select format('drop table if exists %s cascade', oid::regclass) as drop from pg_class
      where oid > $1 and relkind in ('r', 'p') and relpersistence <> 't'
      union all
      select format('drop function if exists %s cascade', oid::regprocedure) from pg_proc where oid > $1`,
    [lastOid],
  )
  if (added.length > 0) await database.runScript(added.map(({ drop }) => drop).join(';'))
}

async function readSeed(database: Database, table: string): Promise<Seed> {
  const [found] = await database.call<{ rows: string }>(
    `select coalesce(jsonb_agg(t order by t::text), '[]')::text as rows from ${table} t`,
    [],
  )
  return { table, rows: found?.rows ?? '[]' }
}

/** Without triggers, which would record the change. */
async function restoreSeed(database: Database, seed: Seed): Promise<void> {
  const { table, rows } = seed
  if ((await readSeed(database, table)).rows === rows) return
  await database.runScript(`
    begin;
    set local session_replication_role = replica;
    delete from ${table};
    insert into ${table} select * from jsonb_populate_recordset(null::${table}, $rows$${rows}$rows$);
    commit;`)
}
