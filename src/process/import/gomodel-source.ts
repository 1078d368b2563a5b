/** Reads GoModel's config.yaml and its database, which is SQLite or PostgreSQL. Nothing is written there. */
import { existsSync } from 'node:fs'
import { nowMs } from '../../event-loop/clock.ts'
import { isJsonObject, type JsonObject } from '../../formats/json/canonical.ts'
import { convertDuration } from './budgets.ts'
import {
  asList,
  asNumber,
  asText,
  describeReadFailure,
  readPostgres,
  readTables,
  readYamlFile,
  type Tables,
} from './source.ts'

/** The tables that are read, and the order of their rows. */
const TABLES = {
  auth_keys: 'created_at, id',
  budgets: 'period_seconds',
  rate_limits: 'period_seconds',
  users: 'created_at',
  virtual_models: 'source',
} as const
/** Tables whose rows have no counterpart, and the reasons. */
const OMITTED_TABLES = {
  guardrail_definitions: 'guardrails are a hook: docs/hooks.md',
  mcp_servers: 'MCP servers are not proxied',
  workflow_versions: 'settings belong to projects: budgets, limits and caching are as they were without workflows',
} as const

/** Rows by column; empty for a table that the installed version of GoModel does not have. */
export type GoModelDatabase = Readonly<Record<keyof typeof TABLES, readonly JsonObject[]>> & {
  /** US dollars by path since a moment (Unix seconds), without cached responses. */
  readonly spent: ReadonlyMap<number, ReadonlyMap<string, number>>
  /** Tables with rows that are not imported. */
  readonly omitted: readonly { table: string; reason: string }[]
}

/** Both dialects have the same tables. */
interface GoModelTables extends Tables {
  spentSince(seconds: number): Promise<readonly JsonObject[]>
}

const PATH = `coalesce(nullif(trim(user_path), ''), '/')`
const UNCACHED = `(cache_type is null or cache_type = '')`

const quote = (name: string) => `"${name}"`

/** Reads everything in one transaction. Throws an error of one line that does not quote the address. */
export async function readGoModelDatabase(address: string): Promise<GoModelDatabase> {
  try {
    return await (/^postgres(ql)?:/.test(address) ? readServer(address) : readFile(address))
  } catch (error) {
    throw describeReadFailure('GoModel', error)
  }
}

const readServer = (address: string): Promise<GoModelDatabase> =>
  readPostgres(address, (tables, transaction) =>
    readDatabase({
      ...tables,
      spentSince: seconds =>
        transaction.unsafe(
          `select ${PATH} as path, sum(total_cost)::double precision as usd from "usage"
           where timestamp >= to_timestamp($1) and ${UNCACHED} group by 1`,
          [seconds],
        ),
    }),
  )

async function readFile(path: string): Promise<GoModelDatabase> {
  if (!existsSync(path)) throw new Error('there is no such file')
  const { Database } = await import('bun:sqlite')
  const database = new Database(path, { readonly: true })
  const has = async (table: string) =>
    database.query(`select 1 from sqlite_master where type = 'table' and name = ?`).get(table.slice(1, -1)) !== null
  try {
    database.run('begin')
    return await readDatabase({
      has,
      rows: async (table, order) =>
        (await has(table)) ? database.query<JsonObject, []>(`select * from ${table} order by ${order}`).all() : [],
      // As GoModel does: its timestamps are texts.
      spentSince: async seconds =>
        database
          .query<JsonObject, [number]>(
            `select ${PATH} as path, sum(total_cost) as usd from usage
             where unixepoch(replace(timestamp, ' ', 'T')) >= ? and ${UNCACHED} group by 1`,
          )
          .all(seconds),
    })
  } finally {
    database.close()
  }
}

async function readDatabase(source: GoModelTables): Promise<GoModelDatabase> {
  if (!(await source.has(quote('auth_keys')))) throw new Error('it has no table auth_keys')
  // Former versions have aliases and access rules in other tables, which a start of a newer one converts.
  if (!(await source.has(quote('virtual_models'))))
    throw new Error('it has no table virtual_models: start a newer version of GoModel on it once')
  const tables = await readTables(source, TABLES, quote)
  const omitted: { table: string; reason: string }[] = []
  for (const [table, reason] of Object.entries(OMITTED_TABLES))
    if ((await source.rows(quote(table), '1')).length > 0) omitted.push({ table, reason })
  const budgets = tables.budgets.map(row => ({ ...row, begin: beginOf(row) }))
  const hasUsage = await source.has(quote('usage'))
  const spent = new Map<number, ReadonlyMap<string, number>>()
  for (const begin of new Set(budgets.map(row => row.begin))) {
    const sums = new Map<string, number>()
    for (const { path, usd } of hasUsage ? await source.spentSince(begin) : [])
      sums.set(normalizePath(path), (sums.get(normalizePath(path)) ?? 0) + (asNumber(usd) ?? 0))
    spent.set(begin, sums)
  }
  return { ...tables, budgets, spent, omitted }
}

/** When what a budget has spent begins to count: with the present period here, or a reset there since then. */
function beginOf({ period_seconds, last_reset_at }: JsonObject): number {
  const now = new Date(nowMs())
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()]
  const begins = {
    day: Date.UTC(year, month, day),
    week: Date.UTC(year, month, day - ((now.getUTCDay() + 6) % 7)),
    month: Date.UTC(year, month, 1),
    total: 0,
  }
  const { per } = convertDuration(`${period_seconds}s`) ?? { per: 'total' as const }
  return Math.max(begins[per] / 1000, asNumber(last_reset_at) ?? 0)
}

/** `/team/alpha`; `/` for an empty path. */
export const normalizePath = (path: unknown): string =>
  `/${String(path ?? '')
    .split('/')
    .map(segment => segment.trim())
    .filter(segment => segment !== '')
    .join('/')}`

/** Returns whether the path is within the other. */
export const isWithin = (path: string, other: string): boolean =>
  other === '/' || path === other || path.startsWith(`${other}/`)

export const isTrue = (value: unknown): boolean => value === true || value === 1

export interface GoModelConfig {
  providers: ReadonlyMap<string, JsonObject>
  /** Redirects and access policies, which replace those of the database with the same source. */
  virtualModels: readonly JsonObject[]
  /** Lists of models by path, which replace those of the database. */
  users: readonly JsonObject[]
  isEnabledByDefault: boolean
  /** The other sections. */
  sections: JsonObject
}

type Environment = Readonly<Record<string, string | undefined>>

/** Reads a config.yaml; without one, only the variables that GoModel reads lists from. */
export async function readGoModelConfig(path: string | undefined, environment: Environment): Promise<GoModelConfig> {
  const parsed = path === undefined ? {} : await readYamlFile(path, 'providers')
  const { providers, virtual_models, users, models, ...sections } = expand(parsed, environment) as JsonObject
  return {
    providers: new Map(
      Object.entries(isJsonObject(providers) ? providers : {}).filter(([, each]) => isJsonObject(each)),
    ) as Map<string, JsonObject>,
    virtualModels: [...objects(virtual_models), ...listOf('VIRTUAL_MODELS', environment)],
    users: [...objects(users), ...listOf('USERS', environment)],
    isEnabledByDefault: !(isJsonObject(models) && models.enabled_by_default === false),
    sections,
  }
}

const objects = (value: unknown): JsonObject[] => asList(value).filter(isJsonObject)

function listOf(variable: string, environment: Environment): JsonObject[] {
  const text = asText(environment[variable])
  if (text === null || !text.trimStart().startsWith('[')) return []
  const list = asList(text)
  if (list.length === 0 && text.replace(/\s/g, '') !== '[]') throw new Error(`${variable} is not a JSON array`)
  return objects(list)
}

/** Replaces `$NAME`, `${NAME}` and `${NAME:-default}`. One whose variable is not set stays, as at GoModel; a key is named by its variable. */
function expand(value: unknown, environment: Environment, name = ''): unknown {
  if (Array.isArray(value)) return value.map(each => expand(each, environment, name))
  if (isJsonObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, expand(each, environment, key)]))
  if (typeof value !== 'string') return value
  const variable = /^\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))$/.exec(value)
  if (variable && /^api_keys?$/.test(name)) return `os.environ/${variable[1] ?? variable[2]}`
  const text = value.replace(
    /\$(?:\{([A-Za-z_]\w*)(?::-([^}]*))?\}|([A-Za-z_]\w*))/g,
    (written, braced, fallback, bare) => environment[braced ?? bare] || (fallback ?? written),
  )
  // GoModel replaces variables before it parses the file.
  return text === 'true' || text === 'false' ? text === 'true' : text
}
