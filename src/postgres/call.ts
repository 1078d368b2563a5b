/** Calls SQL functions by name: the one way in which they are called. Their types are generated from the functions themselves. */
import type { CallOptions, Database } from './database.ts'
import { SQL_FUNCTIONS } from './functions.generated.ts'
import { toJson } from './wire-format.ts'

export type FunctionName = keyof typeof SQL_FUNCTIONS
type Described<Name extends FunctionName> = (typeof SQL_FUNCTIONS)[Name]

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

/** What may be given besides; bytes as in `JsonValues`. */
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
  : Type extends 'bytea[]'
    ? readonly (string | null)[]
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

interface Callee {
  isSingle: boolean
  parameters: readonly { name: string; isJson: boolean }[]
  /** By the names of the parameters that are left to their defaults: '' for none. */
  texts: Map<string, string>
}

const callees = new Map<FunctionName, Callee>()

/** Rows, or the single value. */
export function callFunction<Name extends FunctionName>(
  database: Pick<Database, 'call'>,
  name: Name,
  given: ArgumentsOf<Name>,
  options?: CallOptions,
): Promise<ResultOf<Name>> {
  const { isSingle, parameters, texts } = callees.get(name) ?? meet(name)
  const byName: Readonly<Record<string, unknown>> = given
  const values: unknown[] = []
  let left = ''
  for (const { name, isJson } of parameters) {
    const value = byName[name]
    if (value === undefined) left += `${name} `
    else values.push(isJson ? toJson(value) : value)
  }
  let text = texts.get(left)
  if (text === undefined) {
    text = writeCall(name, parameter => byName[parameter] !== undefined)
    texts.set(left, text)
  }
  const rows = database.call<{ result?: unknown }>(text, values, options)
  return (isSingle ? rows.then(([row]) => row?.result) : rows) as Promise<ResultOf<Name>>
}

/** For a function that returns one row at most; null for none. */
export async function callFunctionForRow<Name extends FunctionName>(
  database: Pick<Database, 'call'>,
  name: Name,
  given: ArgumentsOf<Name>,
): Promise<RowOf<Name> | null> {
  const rows = (await callFunction(database, name, given)) as RowOf<Name>[]
  return rows[0] ?? null
}

export function hasSingleResult(name: FunctionName): boolean {
  return typeof SQL_FUNCTIONS[name].gives === 'string'
}

function meet(name: FunctionName): Callee {
  const parameters = Object.entries<string>(SQL_FUNCTIONS[name].takes)
  const callee = {
    isSingle: hasSingleResult(name),
    parameters: parameters.map(([name, type]) => ({ name, isJson: /^jsonb?[?=]?$/.test(type) })),
    texts: new Map<string, string>(),
  }
  callees.set(name, callee)
  return callee
}

/** Names parameters only where one is left out: the embedded database parses each call anew, and names take it a twentieth longer. */
function writeCall(name: FunctionName, isPassed: (parameter: string) => boolean): string {
  const all = Object.entries<string>(SQL_FUNCTIONS[name].takes)
  const passed = all.filter(([parameter]) => isPassed(parameter))
  const written = passed.map(([, type], i) => castOf(`$${i + 1}`, type))
  const named = passed.map(([parameter], i) => `${parameter} => ${written[i]}`)
  const list = (passed.length === all.length ? written : named).join(', ')
  return hasSingleResult(name)
    ? `select model_proxy.${name}(${list}) as result`
    : `select * from model_proxy.${name}(${list})`
}

/** Drivers disagree on a list of bytea, and would encode JSON themselves. */
function castOf(place: string, marked: string): string {
  const type = marked.replace(/[?=]$/, '')
  if (/^jsonb?$/.test(type)) return `${place}::text::${type}`
  return /^(jsonb?|bytea)\[\]$/.test(type) ? `${place}::text[]::${type}` : `${place}::${type}`
}
