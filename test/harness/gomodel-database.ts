/** Creates SQLite databases with the tables and columns of GoModel. */
import { Database } from 'bun:sqlite'

type Row = Record<string, string | number | null>

/** Of GoModel as of October 2026. */
const PRESENT = [
  `create table auth_keys (id text primary key, name text not null, description text not null default '', user_path text, labels json,
     allowed_models json, dashboard_access integer not null default false, redacted_value text not null, secret_hash text not null unique,
     imported_from text, enabled integer not null default true, expires_at integer, deactivated_at integer, created_at integer not null,
     updated_at integer not null)`,
  `create table budgets (scope text not null default 'user_path', subject text not null, per_child integer not null default false,
     period_seconds integer not null, amount real not null, source text not null default '', last_reset_at integer,
     created_at integer not null, updated_at integer not null, primary key (scope, subject, period_seconds))`,
  `create table rate_limits (scope text not null default 'user_path', subject text not null, per_child integer not null default false,
     period_seconds integer not null, max_requests integer, max_tokens integer, source text not null default '',
     created_at integer not null, updated_at integer not null, primary key (scope, subject, period_seconds))`,
  `create table users (user_path text primary key, allowed_models text not null default '[]', description text not null default '',
     created_at integer not null, updated_at integer not null)`,
]
/** Of releases that name a path where those of today name a scope and a subject. */
const FORMER = [
  `create table auth_keys (id text primary key, name text not null, description text not null default '', user_path text, labels json,
     redacted_value text not null, secret_hash text not null unique, enabled integer not null default 1, expires_at integer,
     deactivated_at integer, created_at integer not null, updated_at integer not null)`,
  `create table budgets (user_path text not null, period_seconds integer not null, amount real not null, source text not null default '',
     last_reset_at integer, created_at integer not null, updated_at integer not null, primary key (user_path, period_seconds))`,
]
const BOTH = [
  `create table virtual_models (source text primary key, targets text not null default '[]', strategy text not null default '',
     session_affinity text not null default '', provider_name text not null default '', model text not null default '',
     user_paths text not null default '[]', description text not null default '', slowdown double precision default null,
     enabled integer not null default true, created_at integer not null, updated_at integer not null)`,
  `create table usage (id text primary key, request_id text not null, provider_id text not null, timestamp datetime not null,
     model text not null, provider text not null, provider_name text, endpoint text not null, user_path text, cache_type text,
     input_tokens integer not null default 0, output_tokens integer not null default 0, total_tokens integer not null default 0,
     raw_data json, input_cost real, output_cost real, total_cost real, costs_calculation_caveat text default '')`,
]

const CREATED = 1_700_000_000
const times = { created_at: CREATED, updated_at: CREATED }

/** The key's text is `sk_gom_` and the secret. */
export const keyRow = (secret: string, columns: Row = {}): Row => ({
  ...{
    id: secret,
    name: secret,
    redacted_value: `sk_gom_...${secret.slice(-4)}`,
    secret_hash: Bun.SHA256.hash(secret, 'hex'),
  },
  ...times,
  ...columns,
})
export const policyRow = (source: string, columns: Row = {}): Row => ({ source, ...times, ...columns })
export const redirectRow = (source: string, models: readonly string[], columns: Row = {}): Row =>
  policyRow(source, { targets: JSON.stringify(models.map(model => ({ model }))), ...columns })
export const budgetRow = (subject: string, period_seconds: number, amount: number, columns: Row = {}): Row => ({
  ...{ subject, period_seconds, amount },
  ...times,
  ...columns,
})
let requests = 0
export const usageRow = (user_path: string | null, total_cost: number | null, columns: Row = {}): Row => ({
  ...{
    id: `request-${++requests}`,
    request_id: 'r',
    provider_id: 'p',
    model: 'gpt-4o',
    provider: 'openai',
    endpoint: 'chat',
  },
  ...{ timestamp: new Date().toISOString(), user_path, total_cost, ...columns },
})

export interface GoModelRows {
  auth_keys?: readonly Row[]
  budgets?: readonly Row[]
  rate_limits?: readonly Row[]
  users?: readonly Row[]
  virtual_models?: readonly Row[]
  usage?: readonly Row[]
}

/** Creates the file, and keeps it open for further statements. */
export function createGoModelDatabase(path: string, tables: GoModelRows, isFormer = false): Database {
  const database = new Database(path, { create: true })
  // As GoModel does.
  database.run('pragma journal_mode = wal')
  for (const statement of [...(isFormer ? FORMER : PRESENT), ...BOTH]) database.run(statement)
  for (const [table, rows] of Object.entries(tables)) for (const row of rows ?? []) insertRow(database, table, row)
  return database
}

export function insertRow(database: Database, table: string, row: Row): void {
  const columns = Object.keys(row)
  database.run(
    `insert into ${table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`,
    Object.values(row),
  )
}

/** Returns statements that create the same tables in PostgreSQL, with the types that GoModel uses there. */
export function toPostgres(tables: GoModelRows): string {
  const types = [
    [/\b(enabled|per_child|dashboard_access) integer/g, '$1 boolean'],
    [/(\w+_at|period_seconds|max_requests|max_tokens) integer/g, '$1 bigint'],
    [/ datetime/g, ' timestamptz'],
    [/ json\b/g, ' jsonb'],
    [/ real/g, ' double precision'],
  ] as const
  const created = [...PRESENT, ...BOTH].map(statement =>
    types.reduce((text, [pattern, type]) => text.replace(pattern, type), statement),
  )
  const literal = (column: string, value: string | number | null) => {
    if (column === 'enabled' || column === 'dashboard_access') return String(value !== 0)
    return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)
  }
  const inserted = Object.entries(tables).flatMap(([table, rows]) =>
    (rows ?? []).map((row: Row) => {
      const values = Object.entries(row).map(([column, value]) => literal(column, value))
      return `insert into ${table} (${Object.keys(row).join(', ')}) values (${values.join(', ')})`
    }),
  )
  return [...created, ...inserted].join(';\n')
}
