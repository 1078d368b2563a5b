/** Reads files and databases of other gateways. Nothing is written there. */
import { readFile } from 'node:fs/promises'
import postgres from 'postgres'
import { isJsonObject, type JsonObject } from '../../formats/json/canonical.ts'

/** Some of LiteLLM's columns contain JSON as text. */
const decode = (value: unknown): unknown => {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}
export function asObject(value: unknown): JsonObject {
  const decoded = decode(value)
  return isJsonObject(decoded) ? decoded : {}
}
export function asList(value: unknown): unknown[] {
  const decoded = decode(value)
  return Array.isArray(decoded) ? decoded : []
}
export const asText = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
/** Numbers in YAML and JSON columns may be quoted. */
export function asNumber(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : null
}

/** Reads a file with a mapping. Throws an error of one line that quotes no value of it. */
export async function readYamlFile(path: string, section: string): Promise<JsonObject> {
  const text = await readFile(path, 'utf8').catch(error => {
    throw new Error(`${path} cannot be read: ${error.code ?? 'unknown error'}`)
  })
  let parsed: unknown
  try {
    parsed = Bun.YAML.parse(text)
  } catch (error) {
    throw new Error(`${path} is not valid YAML: ${error instanceof Error ? error.message.split('\n')[0] : 'unknown'}`)
  }
  if (!isJsonObject(parsed)) throw new Error(`${path} must contain a mapping with ${section}`)
  return parsed
}

/** The tables of a gateway's database, under the names that its dialect quotes. */
export interface Tables {
  has(table: string): Promise<boolean>
  /** Rows by column; none if there is no such table. */
  rows(table: string, order: string): Promise<readonly JsonObject[]>
}

/** Reads PostgreSQL in one read-only transaction. */
export async function readPostgres<Result>(
  address: string,
  read: (tables: Tables, transaction: postgres.TransactionSql) => Promise<Result>,
): Promise<Result> {
  const sql = postgres(address, {
    max: 1,
    onnotice() {},
    fetch_types: false,
    connection: { application_name: 'model-proxy import' },
  })
  try {
    const result = await sql.begin('isolation level repeatable read read only', transaction => {
      const has = async (table: string) =>
        (await transaction`select to_regclass(${table}) is not null as exists`)[0]?.exists === true
      const rows = async (table: string, order: string) =>
        (await has(table))
          ? (await transaction.unsafe(`select to_jsonb(t) as row from ${table} t order by ${order}`)).map(
              ({ row }) => row,
            )
          : []
      return read({ has, rows }, transaction)
    })
    return result as Result
  } finally {
    await sql.end()
  }
}

/** Reads the rows of each table. */
export async function readTables<Name extends string>(
  tables: Tables,
  orders: Readonly<Record<Name, string>>,
  quote: (name: string) => string,
): Promise<Record<Name, readonly JsonObject[]>> {
  const read: Record<string, readonly JsonObject[]> = {}
  for (const [name, order] of Object.entries<string>(orders)) read[name] = await tables.rows(quote(name), order)
  return read as Record<Name, readonly JsonObject[]>
}

/** Describes a failure to read a gateway's database in one line, which does not quote its address. */
export const describeReadFailure = (gateway: string, error: unknown): Error =>
  new Error(`${gateway}’s database cannot be read: ${error instanceof Error ? error.message : String(error)}`)
