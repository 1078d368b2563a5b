/** SQL statements with the columns that they return: the one way in which SQL functions are called. */

import type { PostgresType } from 'postgres'
import type { Database } from './database.ts'

/**
 * Encodes a parameter as text. The driver would guess types from values, and a list's from its first item. Statements here cast each
 * parameter instead, and the server parses the text as that type.
 */
export function encodeValue(value: unknown): string | null {
  if (typeof value === 'string') return value
  if (value === null || value === undefined) return null
  if (Array.isArray(value)) return `{${value.map(encodeElement).join(',')}}`
  if (value instanceof Uint8Array)
    return `\\x${Buffer.from(value.buffer, value.byteOffset, value.length).toString('hex')}`
  if (value instanceof Date) return value.toISOString()
  return String(value)
}

function encodeElement(element: unknown): string {
  const text = encodeValue(element)
  if (text === null) return 'null'
  return typeof element === 'number' || Array.isArray(element) ? text : `"${text.replace(/["\\]/g, '\\$&')}"`
}

const asItIs = (text: unknown) => text

/** OIDs of pg_type. */
const BOOLEAN = 16
const BYTEA = 17
const INT8 = 20
const JSON_TYPES = [114, 3802]
const DATE = 1082
const TIMESTAMPS = [1114, 1184]
const TEXT_LISTS = [1009, 1015]
const NUMBER_LISTS = [1005, 1007, 1016, 1021, 1022]

/** For the driver: parameters are sent as encoded above, and columns are decoded by type. */
export const wireTypes: Record<string, PostgresType> = {
  boolean: reading([BOOLEAN], text => text === 't'),
  bytea: reading([BYTEA], text => Buffer.from(text.slice(2), 'hex')),
  // Ids and counters stay far below 2^53.
  int8: reading([INT8], Number),
  json: reading(JSON_TYPES, text => JSON.parse(text)),
  // A date has no time zone; kept as text, it cannot shift.
  date: reading([DATE], text => text),
  timestamp: reading(TIMESTAMPS, text => new Date(text)),
  texts: reading(TEXT_LISTS, text => parseList(text)),
  numbers: reading(NUMBER_LISTS, text => parseList(text).map(item => (item === null ? null : Number(item)))),
}

function reading(oids: number[], parse: (text: string) => unknown): PostgresType {
  return { to: oids[0] ?? 0, from: oids, serialize: asItIs, parse }
}

/** The elements of a one-dimensional array: quoted, with backslashes, or bare. */
export function parseList(text: string): (string | null)[] {
  const elements = text.slice(1, -1).matchAll(/"((?:[^"\\]|\\.)*)"|([^,]+)/gs)
  return Array.from(elements, ([, quoted, bare]) =>
    quoted !== undefined ? quoted.replace(/\\(.)/gs, '$1') : bare === undefined || bare === 'NULL' ? null : bare,
  )
}

/** `Row` is the type that the declared columns imply. */
export interface Statement<Row> {
  text: string
  /** PostgreSQL's type name of each column; a test compares them with the database. */
  columns: Readonly<Record<string, string>>
  /** Never set: carries the row's type for the compiler. */
  row?: Row
}

/** A column of this PostgreSQL type, which is read as a `T`. */
export interface Column<T> {
  type: string
  /** Never set, as above. */
  value?: T
}

type RowOf<Columns extends Record<string, Column<unknown>>> = {
  [Name in keyof Columns]: Columns[Name] extends Column<infer T> ? T : never
}

/** Every defined statement. */
export const statements: Statement<unknown>[] = []

/** `text` casts each of its parameters. A nullable column must be declared `nullable`, because no test could tell. */
export function defineStatement<const Columns extends Record<string, Column<unknown>>>(
  text: string,
  columns: Columns,
): Statement<RowOf<Columns>> {
  const types = Object.fromEntries(Object.entries(columns).map(([name, { type }]) => [name, type]))
  const statement = { text, columns: types }
  statements.push(statement)
  return statement
}

export function runStatement<Row>(
  database: Pick<Database, 'call'>,
  statement: Statement<Row>,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  return database.call<Row>(statement.text, values)
}

/** For a statement that always returns one row. */
export async function readOne<Row>(
  database: Pick<Database, 'call'>,
  statement: Statement<Row>,
  values: readonly unknown[] = [],
): Promise<Row> {
  const [row] = await runStatement(database, statement, values)
  if (row === undefined) throw new Error(`No row came of: ${statement.text}`)
  return row
}

/** The SQL type of each field's parameter, in the function's order; `hash` is a bytea, given in hex. */
type ParameterTypes<Given> = Readonly<Record<keyof Given & string, string>>

function defineCall(name: string, types: readonly string[]) {
  const cast = types.map((type, i) => (type === 'hash' ? `decode($${i + 1}::text, 'hex')` : `$${i + 1}::${type}`))
  return defineStatement(`select model_proxy.${name}(${cast.join(', ')}) as done`, { done: nothing })
}

/** Defines the call of a function that returns nothing: its parameters are the fields of one object. */
export function defineAction<Given extends object>(name: string, types: ParameterTypes<Given>) {
  const statement = defineCall(name, Object.values<string>(types))
  const fields = Object.keys(types) as (keyof Given)[]
  return async (database: Pick<Database, 'call'>, given: Given): Promise<void> => {
    await runStatement(
      database,
      statement,
      fields.map(field => given[field]),
    )
  }
}

/** As `defineAction`, for many objects in one call: each parameter is a list of one field's values. */
export function defineBatch<Given extends object>(name: string, types: ParameterTypes<Given>) {
  const statement = defineCall(
    name,
    Object.values<string>(types).map(type => `${type}[]`),
  )
  const fields = Object.keys(types) as (keyof Given)[]
  return async (database: Pick<Database, 'call'>, given: readonly Given[]): Promise<void> => {
    await runStatement(database, statement, toColumns(given, fields))
  }
}

/** Defines the call of a function that deletes at most so many rows, and returns how many. */
export function defineSweep(name: string) {
  const statement = defineStatement(`select model_proxy.${name}($1::integer) as deleted`, { deleted: integer })
  return async (database: Pick<Database, 'call'>, atMost: number): Promise<number> =>
    (await readOne(database, statement, [atMost])).deleted
}

/** Hex hashes for `$n::text[]::bytea[]`, since drivers disagree on a list of bytea; null for one that is missing. */
export function listHashes(hashes: readonly (string | null | undefined)[]): (string | null)[] {
  return hashes.map(hash => (hash == null ? null : `\\x${hash}`))
}

/** One array for each field, so that many rows can be the parameters of one call. */
export function toColumns<Row>(rows: readonly Row[], fields: readonly (keyof Row)[]): unknown[][] {
  return fields.map(field => rows.map(row => row[field]))
}

export const texts: Column<string[]> = { type: '_text' }
/** `T` narrows it to a few texts, if the function guarantees them. */
export const text = <T extends string = string>(): Column<T> => ({ type: 'text' })
export const integer: Column<number> = { type: 'int4' }
/** Ids and counters stay far below 2^53. */
export const bigint: Column<number> = { type: 'int8' }
export const double: Column<number> = { type: 'float8' }
export const boolean: Column<boolean> = { type: 'bool' }
export const timestamp: Column<Date> = { type: 'timestamptz' }
/** `YYYY-MM-DD`. */
export const date: Column<string> = { type: 'date' }
export const bytes: Column<Uint8Array> = { type: 'bytea' }
/** For a function that returns nothing. */
export const nothing: Column<unknown> = { type: 'void' }
export const nullable = <T>(column: Column<T>): Column<T | null> => column
