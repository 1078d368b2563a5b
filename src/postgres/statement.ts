/** SQL statements with the columns that they return: the one way in which SQL functions are called. */
import type { Database } from './database.ts'

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
