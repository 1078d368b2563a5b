/** What must be there before the first migration: the schema, the extension, the ledger; and no installation of before the first release. */
import type { Database } from './database.ts'
import { SCHEMA_NAME } from './schema-name.ts'

export const CREATE_LEDGER = `
create table if not exists schema_migrations (
    name text primary key,
    checksum text not null,
    applied_at timestamptz not null default now()
);
comment on table schema_migrations is 'Ledger of what of sql/ this database has seen.';
comment on column schema_migrations.name is 'baseline; file below sql/migrations, or step of one that is not finished; file of settings, views, functions or seed; release; schema.';
comment on column schema_migrations.checksum is 'SHA-256 of its text when it was applied; of release: the version; of schema: a fingerprint of all definitions when they were last compared.';
comment on column schema_migrations.applied_at is 'When it was last applied.';
`

/**
 * The schema and the extension, each where it is missing: who owns nothing but the schema is let in once an administrator has made both.
 * An extension belongs to the database, so it goes where others find it, too.
 */
export const CREATE_SCHEMA = `
do $$
declare
    place name;
begin
    if to_regnamespace('model_proxy') is null then
        create schema model_proxy;
        comment on schema model_proxy is 'Everything of Model Proxy in this database.';
    end if;
    select n.nspname into place from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector';
    if place is null then
        select n.nspname into place from pg_namespace n where n.oid = coalesce(to_regnamespace('public'), to_regnamespace('model_proxy'));
        execute format('create extension vector schema %I', place);
    end if;
    perform set_config('search_path', format('model_proxy, %I, pg_temp', place), true);
end $$;`
const FIND_EXTENSION = `select n.nspname as schema from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector'`
/** How a function names the extension's schema; it is deployed with the one where the extension is. */
const WITH_EXTENSION = `set search_path = ${SCHEMA_NAME}, public, pg_temp`

/** SQL whose functions look where the extension is. */
export async function setExtensionSchema(database: Database, text: string): Promise<string> {
  const [extension] = await database.call<{ schema: string }>(FIND_EXTENSION, [])
  return text.replaceAll(WITH_EXTENSION, `set search_path = ${SCHEMA_NAME}, "${extension?.schema}", pg_temp`)
}

/** Before the first release, tables lay in `public`. */
export async function rejectPublicSchemaTables(database: Database): Promise<void> {
  const [found] = await database.call<{ is_old: boolean }>(FIND_OLD_PLACE, [])
  if (found?.is_old) throw new Error(UNRELEASED_MESSAGE)
}

/** Other programs have a table of this name, too. */
const FIND_OLD_PLACE = `select exists (
  select from pg_class c join pg_description d on d.objoid = c.oid and d.objsubid = 0
  where c.relnamespace = to_regnamespace('public') and c.relname = 'schema_migrations'
    and d.description = 'Ledger of what of sql/ this database has seen.'
) as is_old`

export const UNRELEASED_MESSAGE =
  'This database was made by a version before the first release, and cannot be upgraded. Start with an empty database (another DATABASE_URL; with the embedded one, another DATA_DIR), and carry projects and keys over as docs/operating.md says under "From a version before the first release".'
