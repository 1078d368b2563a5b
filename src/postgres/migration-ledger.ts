/** The ledger of applied files of sql/: the checksum of each file's text when it was applied, by name. */
import type { Database } from './database.ts'

export type MigrationLedger = ReadonlyMap<string, string>

/** The row of the ledger with the latest release that deployed its functions. */
export const LATEST_RELEASE_ROW_NAME = 'release'

/** The row of the ledger with the fingerprint of the schema when it was last compared as a whole. */
export const SCHEMA_FINGERPRINT_ROW_NAME = 'schema'

export async function recordSchemaFingerprint(database: Database, fingerprint: string): Promise<void> {
  await database.call(
    `insert into model_proxy.schema_migrations (name, checksum, applied_at) values ('${SCHEMA_FINGERPRINT_ROW_NAME}', $1, clock_timestamp())
    on conflict (name) do update set checksum = excluded.checksum, applied_at = clock_timestamp()`,
    [fingerprint],
  )
}

export function buildLedgerInsert(name: string, checksum: string): string {
  return `insert into schema_migrations (name, checksum, applied_at) values ('${name}', '${checksum}', clock_timestamp())
    on conflict (name) do update set checksum = excluded.checksum, applied_at = clock_timestamp();`
}

/** Returns a statement that fails if another proxy has migrated since the ledger was read. */
export function buildLedgerAssertion(ledger: MigrationLedger): string {
  const read = Array.from(ledger, ([name, checksum]) => `${name} ${checksum}`)
  return `do $$ begin
    if (select coalesce(array_agg(name || ' ' || checksum order by name collate "C"), '{}') from schema_migrations)
        <> '{${read.map(line => `"${line}"`).join(',')}}'::text[]
    then
        raise exception 'another proxy has migrated' using errcode = 'serialization_failure';
    end if;
end $$;`
}

/** If the table `projects` exists and the ledger is missing or empty, the database was restored without its rows. */
export async function hasTable(database: Database, name: 'projects' | 'schema_migrations'): Promise<boolean> {
  const [found] = await database.call<{ has: boolean }>(
    `select to_regclass('model_proxy.${name}') is not null as has`,
    [],
  )
  return found?.has === true
}

export async function readLedger(database: Database): Promise<MigrationLedger> {
  const rows = await database.call<{ name: string; checksum: string }>(
    `select name, checksum from model_proxy.schema_migrations order by name collate "C"`,
    [],
  )
  return new Map(rows.map(row => [row.name, row.checksum]))
}
