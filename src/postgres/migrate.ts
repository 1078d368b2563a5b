/**
 * Brings a database to this version's schema: each migration once, then views, functions and seeds whenever they changed. A deploy is one
 * transaction.
 *
 * During a deploy, the previous release still serves beside the new one. So every function it calls keeps its name, arguments and result
 * for one more release. A function whose arguments or result change gets a new list of arguments; the old one moves to sql/compatibility
 * and calls the new one. The next release empties that folder, and a migration drops the old functions. Tables lose no column that the
 * previous release writes, and get none without a default. A release that changes functions or views adds a migration, if need be one
 * with only a comment. It tells the previous release to leave the newer functions alone.
 */
import { readdir } from 'node:fs/promises'
import { type Database, type Script, ScriptFailed, sqlStateOf } from './database.ts'

const sqlFolder = new URL('../../sql/', import.meta.url)
/** In order of dependency. */
const REPLAYED = ['views', 'functions', 'compatibility', 'seed']

const LEDGER = `
create table if not exists schema_migrations (
    name text primary key,
    checksum text not null,
    applied_at timestamptz not null default now()
);
comment on table schema_migrations is 'Ledger of what of sql/ this database has seen.';
comment on column schema_migrations.name is 'File of sql/migrations, or a folder that is replayed whole.';
comment on column schema_migrations.checksum is 'SHA-256 of its text when it was applied.';
comment on column schema_migrations.applied_at is 'When it was last applied.';
`

/** Held during a migration; is_deploying() looks for it. */
const TURN = `hashtext('model-proxy migrate')`
const TAKE_TURN = `
set local lock_timeout = '500ms';
set local statement_timeout = '30min';
set local check_function_bodies = off;
do $$ begin
    if not pg_try_advisory_xact_lock(${TURN}) then
        raise exception 'another proxy is migrating' using errcode = 'lock_not_available';
    end if;
end $$;`
/**
 * SQLSTATEs after which the deploy is tried again: another proxy migrates, a table is in use, the ledger has changed, or a deadlock with
 * requests. Waiting for a table's lock would block every later request, so the deploy gives up quickly and tries again.
 */
const TRY_AGAIN: readonly (string | null)[] = ['55P03', '40001', '40P01']

const ASK_AGAIN_AFTER_MS = 250
const TELL_EVERY_MS = 10_000
const WAIT_LIMIT_MS = 30 * 60_000

export interface MigrationReport {
  /** What was applied, in order; empty when the database was up to date. */
  applied: string[]
  /** A newer release has migrated the database: its functions serve this release too, and stay. */
  isBehind: boolean
}

export interface MigrateOptions {
  /** Called now and then while the deploy waits for another proxy or for tables in use. */
  onWait?(seconds: number): void
  waitLimitMs?: number
}

/** Throws when an applied migration has since been edited, and when one fails; a failed deploy is rolled back. */
export async function migrate(
  database: Database,
  { onWait = () => {}, waitLimitMs = WAIT_LIMIT_MS }: MigrateOptions = {},
): Promise<MigrationReport> {
  const startedAtMs = performance.now()
  let toldAtMs = Number.NEGATIVE_INFINITY
  for (;;) {
    const report = await tryMigrate(database)
    if (report) return report
    const waitedMs = performance.now() - startedAtMs
    if (waitedMs > waitLimitMs)
      throw new Error(
        `For ${Math.round(waitedMs / 1_000)} s another proxy has been migrating the database, or its tables have been in use`,
      )
    if (performance.now() - toldAtMs > TELL_EVERY_MS) {
      toldAtMs = performance.now()
      onWait(Math.round(waitedMs / 1_000))
    }
    await Bun.sleep(ASK_AGAIN_AFTER_MS)
  }
}

/** Returns null while another proxy migrates, or uses what has to change. */
async function tryMigrate(database: Database): Promise<MigrationReport | null> {
  const ledger = await readLedger(database)
  const isBehind = await hasNewer(ledger)
  const pending = isBehind ? [] : await listPending(ledger)
  // While another proxy migrates, this one must not serve, even if the ledger is up to date.
  if (pending.length === 0) return (await isMigrating(database)) ? null : { applied: [], isBehind }
  const prepare = { name: 'The ledger of migrations', text: `${TAKE_TURN}${LEDGER}${refuseUnlessLike(ledger)}` }
  try {
    await database.runScripts([prepare, ...pending.flatMap(({ scripts }) => scripts)])
    return { applied: pending.map(({ name }) => name), isBehind }
  } catch (error) {
    if (error instanceof ScriptFailed && TRY_AGAIN.includes(sqlStateOf(error.cause))) return null
    throw error
  }
}

/** Whether the ledger has a migration after the last one that this release knows. */
async function hasNewer(ledger: ReadonlyMap<string, string>): Promise<boolean> {
  const newest = (await listFiles('migrations')).at(-1) ?? ''
  return [...ledger.keys()].some(name => name.endsWith('.sql') && name > newest)
}

interface Pending {
  name: string
  scripts: Script[]
}

async function listPending(ledger: ReadonlyMap<string, string>): Promise<Pending[]> {
  const pending: Pending[] = []
  for (const file of await listFiles('migrations')) {
    const text = await readSql('migrations', file)
    const checksum = digest(text)
    const known = ledger.get(file)
    if (known === checksum) continue
    if (known) throw new Error(`Migration ${file} was changed after it was applied; add a new migration instead`)
    pending.push({
      name: file,
      scripts: [{ name: `Migration ${file}`, text: `${text}${noteApplied(file, checksum)}` }],
    })
  }
  const replays = await Promise.all(REPLAYED.map(readFolder))
  const firstChanged = replays.findIndex(({ name, checksum }) => ledger.get(name) !== checksum)
  // Folders after a changed one are replayed, too: dropping a view also drops what depends on it.
  for (const { name, scripts, checksum } of firstChanged < 0 ? [] : replays.slice(firstChanged)) {
    pending.push({ name, scripts: [...scripts, { name: `sql/${name}`, text: noteApplied(name, checksum) }] })
  }
  return pending
}

async function readFolder(folder: string) {
  const files = await listFiles(folder)
  const texts = await Promise.all(files.map(file => readSql(folder, file)))
  const scripts = texts.map((text, i) => ({ name: `sql/${folder}/${files[i]}`, text: replaceable(text) }))
  return { name: folder, scripts, checksum: digest(texts.join('\n')) }
}

/**
 * Postgres cannot replace a view whose columns changed, or a function whose result changed. It is dropped with everything that depends on
 * it, and created again. Only if necessary, because the lock on a view blocks its users until the deploy ends.
 */
function replaceable(text: string): string {
  const view = /^create or replace view (\w+) as$/m.exec(text)
  const func = /^comment on function (\w+\([^)]*\)) is/m.exec(text)
  const drop = view ? `drop view ${view[1]} cascade` : func ? `drop function ${func[1]} cascade` : null
  if (drop === null) return text
  return `do $deploy$ begin
    execute $text$${text}$text$;
exception when invalid_table_definition or invalid_function_definition then
    ${drop};
    execute $text$${text}$text$;
end $deploy$;`
}

function noteApplied(name: string, checksum: string): string {
  return `insert into schema_migrations (name, checksum, applied_at) values ('${name}', '${checksum}', clock_timestamp())
    on conflict (name) do update set checksum = excluded.checksum, applied_at = clock_timestamp();`
}

/** Fails if another proxy has migrated since the ledger was read. */
function refuseUnlessLike(ledger: ReadonlyMap<string, string>): string {
  const read = Array.from(ledger, ([name, checksum]) => `${name} ${checksum}`)
  return `do $$ begin
    if (select coalesce(array_agg(name || ' ' || checksum order by name collate "C"), '{}') from schema_migrations)
        <> '{${read.map(line => `"${line}"`).join(',')}}'::text[]
    then
        raise exception 'another proxy has migrated' using errcode = 'serialization_failure';
    end if;
end $$;`
}

async function readLedger(database: Database): Promise<Map<string, string>> {
  const [found] = await database.call<{ known: boolean }>(
    `select to_regclass('public.schema_migrations') is not null as known`,
    [],
  )
  if (!found?.known) return new Map()
  const rows = await database.call<{ name: string; checksum: string }>(
    `select name, checksum from schema_migrations order by name collate "C"`,
    [],
  )
  return new Map(rows.map(row => [row.name, row.checksum]))
}

async function isMigrating(database: Database): Promise<boolean> {
  const [turn] = await database.call<{ free: boolean }>(`select pg_try_advisory_xact_lock_shared(${TURN}) as free`, [])
  return turn?.free === false
}

async function listFiles(folder: string): Promise<string[]> {
  const names = await readdir(new URL(`${folder}/`, sqlFolder)).catch(() => [])
  return names.filter(name => name.endsWith('.sql')).sort()
}

function readSql(folder: string, file: string): Promise<string> {
  return Bun.file(new URL(`${folder}/${file}`, sqlFolder)).text()
}

function digest(text: string): string {
  return new Bun.CryptoHasher('sha256').update(text).digest('hex')
}
