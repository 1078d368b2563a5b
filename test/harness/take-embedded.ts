/** One embedded database for all test files of a worker: starting one takes more than a second of processor time, emptying it some milliseconds. */

import { inject } from 'vitest'
import { callFunction } from '../../src/postgres/call.ts'
import type { Database } from '../../src/postgres/database.ts'
import { openEmbeddedDatabase } from '../../src/postgres/embedded/embedded.ts'
import { EMPTIED_TABLES, emptyDatabase } from './empty-database.ts'
import { holdToTypes } from './hold-to-types.ts'

interface Taken {
  database: Database
  /** Of the schema and roles: a test that changes them, other than by what it adds, costs the next file a database. */
  fingerprint: string
  /** Of what is there; what tests add has larger ones. */
  lastOid: number
  seeds: Seed[]
}
interface Seed {
  table: string
  /** All its rows as JSON. */
  rows: string
}

let taken: Taken | null = null

/** Emptied; another one where tests have changed the schema or roles. It is not to be closed. */
export async function takeEmbedded(): Promise<Database> {
  if (taken !== null) {
    const { database, fingerprint, lastOid, seeds } = taken
    await emptyDatabase(database)
    await dropAdded(database, lastOid)
    // Nothing else takes dead rows away: an embedded database has no autovacuum.
    await database.runScript(`vacuum ${EMPTIED_TABLES.join(', ')}`)
    if ((await readFingerprint(database)) === fingerprint) {
      for (const seed of seeds) await restoreSeed(database, seed)
      return database
    }
    taken = null
    await database.close()
  }
  const template = new Blob([await Bun.file(inject('embeddedTemplate')).bytes()])
  const database = holdToTypes(await openEmbeddedDatabase({ directory: null, psql: null, template }))
  // As each proxy does at its start: else every test of a proxy would change the schema, and cost the next file a database.
  await callFunction(database, 'maintain_usage_partitions', {})
  const seeds = await Promise.all(SEEDED_TABLES.map(table => readSeed(database, table)))
  taken = { database, fingerprint: await readFingerprint(database), lastOid: await readLastOid(database), seeds }
  return database
}

/** The one that tests of this worker use now; null before any does. */
export function embeddedInUse(): Database | null {
  return taken?.database ?? null
}

const SEEDED_TABLES = ['models', 'model_prices', 'model_unit_prices', 'plans', 'service_settings']
/** What was made after the cluster was. */
const CATALOGUES = ['pg_proc', 'pg_class', 'pg_trigger', 'pg_constraint', 'pg_authid']

/** How many rows there are, and which transaction wrote last: any change shows in one of them. */
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

/** Without triggers: they would note the change. */
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
