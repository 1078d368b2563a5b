/** Calls SQL functions by name: the one way in which they are called. Their types are generated from the functions themselves. */
import type { CallOptions, Database } from './database.ts'
import { FUNCTIONS } from './functions.generated.ts'

export type FunctionName = keyof typeof FUNCTIONS
type Described<Name extends FunctionName> = (typeof FUNCTIONS)[Name]

/** What the drivers return for a type, and take for it. */
interface Values {
  bigint: number
  integer: number
  smallint: number
  'double precision': number
  real: number
  /** In decimal form. */
  numeric: string
  boolean: boolean
  text: string
  uuid: string
  /** `YYYY-MM-DD`. */
  date: string
  /** ISO 8601, such as PT60S. */
  interval: string
  timestamptz: Date
  bytea: Uint8Array
  json: unknown
  jsonb: unknown
  void: undefined
}

/** In place of `Values`, what JSON has for a type. */
export interface JsonValues extends Omit<Values, 'timestamptz' | 'bytea' | 'numeric'> {
  numeric: number
  /** ISO 8601. */
  timestamptz: string
  /** PostgreSQL's text format, `\\x` and hex. */
  bytea: string
}

/** What may be given besides. */
interface AlsoTaken {
  timestamptz: string
  bytea: string
  numeric: number
}

type ValueOf<Type, Known> = Type extends `${infer Plain}?`
  ? ValueOf<Plain, Known> | null
  : Type extends `${infer Item}[]`
    ? ValueOf<Item, Known>[]
    : Type extends `${infer Word}|${infer Others}`
      ? Word | Words<Others>
      : Type extends keyof Known
        ? Known[Type]
        : unknown

type Words<Listed> = Listed extends `${infer Word}|${infer Others}` ? Word | Words<Others> : Listed

type TakenOf<Type> = Type extends `${infer Plain}?` | `${infer Plain}=`
  ? TakenOf<Plain> | null
  : Type extends `${infer Item}[]`
    ? readonly (TakenOf<Item> | null)[]
    : ValueOf<Type, Values> | (Type extends keyof AlsoTaken ? AlsoTaken[Type] : never)

type WithDefault<Takes> = { [P in keyof Takes]: Takes[P] extends `${string}=` ? P : never }[keyof Takes]

/** The values of a function's parameters by name. One that has a default may be left out. */
export type ArgumentsOf<Name extends FunctionName, Takes = Described<Name>['takes']> = {
  readonly [P in Exclude<keyof Takes, WithDefault<Takes>>]: TakenOf<Takes[P]>
} & { readonly [P in WithDefault<Takes>]?: TakenOf<Takes[P]> | undefined }

type Given<Name extends FunctionName> = Described<Name>['gives']

/** A row of a function that returns rows, by columns. */
export type RowOf<Name extends FunctionName, Known = Values> =
  Given<Name> extends string ? never : { -readonly [C in keyof Given<Name>]: ValueOf<Given<Name>[C], Known> }

/** Rows, or a single value. */
export type ResultOf<Name extends FunctionName, Known = Values> =
  Given<Name> extends string ? ValueOf<Given<Name>, Known> : RowOf<Name, Known>[]

export async function call<Name extends FunctionName>(
  database: Pick<Database, 'call'>,
  name: Name,
  given: ArgumentsOf<Name>,
  options?: CallOptions,
): Promise<ResultOf<Name>> {
  const values: Readonly<Record<string, unknown>> = given
  const { text, passed } = statementOf(name, values)
  const rows = await database.call<{ result?: unknown }>(
    text,
    passed.map(({ parameter, isJson }) => (isJson ? toJson(values[parameter]) : values[parameter])),
    options,
  )
  return (isSingle(name) ? rows[0]?.result : rows) as ResultOf<Name>
}

/** For a function that returns one row at most; null for none. */
export async function callForRow<Name extends FunctionName>(
  database: Pick<Database, 'call'>,
  name: Name,
  given: ArgumentsOf<Name>,
): Promise<RowOf<Name> | null> {
  const rows = (await call(database, name, given)) as RowOf<Name>[]
  return rows[0] ?? null
}

export function isSingle(name: FunctionName): boolean {
  return typeof FUNCTIONS[name].gives === 'string'
}

interface Statement {
  text: string
  /** In the order of `$1` and so on. */
  passed: readonly { parameter: string; isJson: boolean }[]
}

/** By function, and by the parameters that are left to their defaults. */
const written = new Map<string, Statement>()

function statementOf(name: FunctionName, given: Readonly<Record<string, unknown>>): Statement {
  const takes: Readonly<Record<string, string>> = FUNCTIONS[name].takes
  let key: string = name
  for (const parameter in takes) if (given[parameter] === undefined) key += ` ${parameter}`
  const known = written.get(key)
  if (known) return known
  const passed = Object.entries(takes).filter(([parameter]) => given[parameter] !== undefined)
  const list = passed.map(([parameter, type], i) => `${parameter} => ${castOf(`$${i + 1}`, type)}`).join(', ')
  const text = isSingle(name)
    ? `select model_proxy.${name}(${list}) as result`
    : `select * from model_proxy.${name}(${list})`
  const statement = {
    text,
    passed: passed.map(([parameter, type]) => ({ parameter, isJson: /^jsonb?[?=]?$/.test(type) })),
  }
  written.set(key, statement)
  return statement
}

/** Drivers disagree on a list of bytea, and would encode JSON themselves. */
function castOf(value: string, marked: string): string {
  const type = marked.replace(/[?=]$/, '')
  if (type === 'bytea[]') return `${value}::text[]::bytea[]`
  return /^jsonb?(\[\])?$/.test(type) ? `${value}::text::${type}` : `${value}::${type}`
}

/** Half a surrogate pair is no text: PostgreSQL reads none in JSON. */
const wellFormed = (_: string, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value)

export function toJson(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value, wellFormed)
}
