/** Brings a database to this version's schema: migrations once each, then views, functions and seeds whenever they changed. */
import { readdir } from 'node:fs/promises'
import { sql } from 'kysely'
import { type Database, sqlStateOf } from './database.ts'

const sqlFolder = new URL('../../sql/', import.meta.url)

const LEDGER = `
create table if not exists schema_migrations (
    name text primary key,
    checksum text not null,
    applied_at timestamptz not null default now()
);
comment on table schema_migrations is 'Ledger of what of sql/ this database has seen.';
comment on column schema_migrations.name is 'File of sql/migrations, or views, functions, seed.';
comment on column schema_migrations.checksum is 'SHA-256 of its text when it was applied.';
comment on column schema_migrations.applied_at is 'When it was last applied.';
`

/** Held by whoever migrates, so that proxies that start together take turns. */
const TAKE_TURN = `select pg_advisory_xact_lock(hashtext('model-proxy migrate'));
set local lock_timeout = '10s';
set local statement_timeout = '30min';`

export interface MigrationReport {
  /** What was applied, in order; empty when the database was up to date. */
  applied: string[]
}

/** Throws when a migration that was applied has since been edited, and when one fails; a failed one leaves nothing behind. */
export async function migrate(database: Database): Promise<MigrationReport> {
  await database.runScript(`${TAKE_TURN}${LEDGER}`)
  const ledger = await readLedger(database)
  const applied: string[] = []

  for (const file of await listFiles('migrations')) {
    const text = await readSql('migrations', file)
    const checksum = digest(text)
    const known = ledger.get(file)
    if (known === checksum) continue
    if (known) throw new Error(`Migration ${file} was changed after it was applied; add a new migration instead`)
    if (await applyMigration(database, file, checksum, text)) applied.push(file)
  }
  // A view that gains columns is replaced; one that loses any, or changes their type, is dropped by a migration first.
  for (const folder of ['views', 'functions', 'seed']) {
    const files = await listFiles(folder)
    const text = (await Promise.all(files.map(file => readSql(folder, file)))).join('\n')
    const checksum = digest(text)
    if (ledger.get(folder) === checksum) continue
    await database.runScript(
      `${TAKE_TURN} set local check_function_bodies = off; ${text}; ${noteApplied(folder, checksum)}`,
    )
    applied.push(folder)
  }
  return { applied }
}

/** False when another proxy applied it first. */
async function applyMigration(database: Database, file: string, checksum: string, text: string): Promise<boolean> {
  try {
    await database.runScript(
      `${TAKE_TURN} insert into schema_migrations (name, checksum) values ('${file}', '${checksum}'); ${text}`,
    )
    return true
  } catch (error) {
    const raced = sqlStateOf(error) === '23505' && (await readLedger(database)).get(file) === checksum
    if (raced) return false
    throw new Error(`Migration ${file} failed`, { cause: error })
  }
}

function noteApplied(name: string, checksum: string): string {
  return `insert into schema_migrations (name, checksum) values ('${name}', '${checksum}')
    on conflict (name) do update set checksum = excluded.checksum, applied_at = now();`
}

async function readLedger(database: Database): Promise<Map<string, string>> {
  const { rows } = await sql<{ name: string; checksum: string }>`select name, checksum from schema_migrations`.execute(
    database.queries,
  )
  return new Map(rows.map(row => [row.name, row.checksum]))
}

async function listFiles(folder: string): Promise<string[]> {
  const names = await readdir(new URL(`${folder}/`, sqlFolder))
  return names.filter(name => name.endsWith('.sql')).sort()
}

function readSql(folder: string, file: string): Promise<string> {
  return Bun.file(new URL(`${folder}/${file}`, sqlFolder)).text()
}

function digest(text: string): string {
  return new Bun.CryptoHasher('sha256').update(text).digest('hex')
}
