/** Creates the prerequisites of the first migration: schema, extension and ledger. Rejects installations older than the first release. */
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
 * Creates the schema and the extension if they are missing. An administrator may create both beforehand for a role that lacks the rights.
 * The extension goes into `public` if that exists, because all users of the database share it.
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
/** The search path in functions. Its `public` is replaced by the schema of the extension. */
const WITH_EXTENSION = `set search_path = ${SCHEMA_NAME}, public, pg_temp`

/** Returns the SQL with the extension's schema in the search path of its functions. */
export async function substituteExtensionSchema(database: Database, text: string): Promise<string> {
  const [extension] = await database.call<{ schema: string }>(FIND_EXTENSION, [])
  return text.replaceAll(WITH_EXTENSION, `set search_path = ${SCHEMA_NAME}, "${extension?.schema}", pg_temp`)
}

/** Throws if `public` has the tables of a version before the first release. */
export async function rejectPublicSchemaTables(database: Database): Promise<void> {
  const [found] = await database.call<{ is_old: boolean }>(FIND_PUBLIC_TABLES, [])
  if (found?.is_old) throw new Error(UNRELEASED_MESSAGE)
}

/** Checks the table's comment too, because other programs have a table of this name. */
const FIND_PUBLIC_TABLES = `select exists (
  select from pg_class c join pg_description d on d.objoid = c.oid and d.objsubid = 0
  where c.relnamespace = to_regnamespace('public') and c.relname = 'schema_migrations'
    and d.description = 'Ledger of what of sql/ this database has seen.'
) as is_old`

export const UNRELEASED_MESSAGE =
  'the database was created by a version before the first release, and cannot be upgraded. Use an empty database (another DATABASE_URL; for the embedded one, another DATA_DIR), and move projects and keys as described in docs/operating.md under "From a version before the first release".'
