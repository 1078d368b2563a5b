/** Calls SQL functions by name. All code calls them through this module; argument and result types are generated from the functions. */
import type { Database } from './database.ts'
import { SQL_FUNCTIONS } from './functions.generated.ts'
import { toJson } from './wire-format.ts'

export type FunctionName = keyof typeof SQL_FUNCTIONS
type FunctionDescription<Name extends FunctionName> = (typeof SQL_FUNCTIONS)[Name]

/** The JavaScript type that the drivers return and accept for each SQL type. */
interface DriverValues {
  bigint: number
  integer: number
  smallint: number
  'double precision': number
  real: number
  /** A decimal string. */
  numeric: string
  boolean: boolean
  text: string
  uuid: string
  /** A string `YYYY-MM-DD`. */
  date: string
  /** An ISO 8601 duration, such as `PT60S`. */
  interval: string
  timestamptz: Date
  bytea: Uint8Array
  json: unknown
  jsonb: unknown
  void: undefined
}

/** The JavaScript type of each SQL type in JSON; it takes the place of `DriverValues`. */
export interface JsonValues extends Omit<DriverValues, 'timestamptz' | 'bytea' | 'numeric'> {
  numeric: number
  /** An ISO 8601 timestamp. */
  timestamptz: string
  /** PostgreSQL's text format, `\\x` and hex. */
  bytea: string
}

/** Types that are accepted as arguments in addition to `DriverValues`. */
interface AlsoAccepted {
  timestamptz: string
  numeric: number
}

type ValueOf<Type, Types> = Type extends `${infer Plain}?`
  ? ValueOf<Plain, Types> | null
  : Type extends `${infer Item}[]`
    ? ValueOf<Item, Types>[]
    : Type extends `${infer Word}|${infer Others}`
      ? Word | Words<Others>
      : Type extends keyof Types
        ? Types[Type]
        : unknown

type Words<Union> = Union extends `${infer Word}|${infer Others}` ? Word | Words<Others> : Union

type ArgumentOf<Type> = Type extends `${infer Plain}?` | `${infer Plain}=`
  ? ArgumentOf<Plain> | null
  : Type extends 'bytea[]'
    ? readonly (string | null)[]
    : Type extends `${infer Item}[]`
      ? readonly (ArgumentOf<Item> | null)[]
      : ValueOf<Type, DriverValues> | (Type extends keyof AlsoAccepted ? AlsoAccepted[Type] : never)

type WithDefault<Takes> = { [P in keyof Takes]: Takes[P] extends `${string}=` ? P : never }[keyof Takes]

/** The arguments of a function by parameter name. A parameter with a default may be omitted. */
export type ArgumentsOf<Name extends FunctionName, Takes = FunctionDescription<Name>['takes']> = {
  readonly [P in Exclude<keyof Takes, WithDefault<Takes>>]: ArgumentOf<Takes[P]>
} & { readonly [P in WithDefault<Takes>]?: ArgumentOf<Takes[P]> | undefined }

type ResultDescription<Name extends FunctionName> = FunctionDescription<Name>['gives']

/** A row of a function that returns rows, by column name. */
export type RowOf<Name extends FunctionName, Types = DriverValues> =
  ResultDescription<Name> extends string
    ? never
    : { -readonly [C in keyof ResultDescription<Name>]: ValueOf<ResultDescription<Name>[C], Types> }

/** The result of a function: its rows, or its single value. */
export type ResultOf<Name extends FunctionName, Types = DriverValues> =
  ResultDescription<Name> extends string ? ValueOf<ResultDescription<Name>, Types> : RowOf<Name, Types>[]

interface FunctionCall {
  isSingle: boolean
  parameters: readonly { name: string; isJson: boolean }[]
  /** SQL texts, keyed by the names of the omitted parameters; '' if none is omitted. */
  texts: Map<string, string>
}

const functionCalls = new Map<FunctionName, FunctionCall>()

/** Calls a function. Resolves to its rows, or to its single value. */
export function callFunction<Name extends FunctionName>(
  database: Pick<Database, 'call'>,
  name: Name,
  args: ArgumentsOf<Name>,
): Promise<ResultOf<Name>> {
  const { isSingle, parameters, texts } = functionCalls.get(name) ?? describeCall(name)
  const argumentsByName: Readonly<Record<string, unknown>> = args
  const values: unknown[] = []
  let omitted = ''
  for (const { name, isJson } of parameters) {
    const value = argumentsByName[name]
    if (value === undefined) omitted += `${name} `
    else values.push(isJson ? toJson(value) : value)
  }
  let text = texts.get(omitted)
  if (text === undefined) {
    text = formatCall(name, parameter => argumentsByName[parameter] !== undefined)
    texts.set(omitted, text)
  }
  const rows = database.call<{ result?: unknown }>(text, values)
  return (isSingle ? rows.then(([row]) => row?.result) : rows) as Promise<ResultOf<Name>>
}

/** Calls a function that returns at most one row. Resolves to null if there is none. */
export async function callFunctionForRow<Name extends FunctionName>(
  database: Pick<Database, 'call'>,
  name: Name,
  args: ArgumentsOf<Name>,
): Promise<RowOf<Name> | null> {
  const rows = (await callFunction(database, name, args)) as RowOf<Name>[]
  return rows[0] ?? null
}

export function hasSingleResult(name: FunctionName): boolean {
  return typeof SQL_FUNCTIONS[name].gives === 'string'
}

function describeCall(name: FunctionName): FunctionCall {
  const parameters = Object.entries<string>(SQL_FUNCTIONS[name].takes)
  const callee = {
    isSingle: hasSingleResult(name),
    parameters: parameters.map(([name, type]) => ({ name, isJson: /^jsonb?[?=]?$/.test(type) })),
    texts: new Map<string, string>(),
  }
  functionCalls.set(name, callee)
  return callee
}

/** Formats the call. Arguments are named only if one is omitted, because the embedded database parses named ones 5 % slower. */
function formatCall(name: FunctionName, isPassed: (parameter: string) => boolean): string {
  const all = Object.entries<string>(SQL_FUNCTIONS[name].takes)
  const passed = all.filter(([parameter]) => isPassed(parameter))
  const casts = passed.map(([, type], i) => castParameter(`$${i + 1}`, type))
  const named = passed.map(([parameter], i) => `${parameter} => ${casts[i]}`)
  const list = (passed.length === all.length ? casts : named).join(', ')
  return hasSingleResult(name)
    ? `select model_proxy.${name}(${list}) as result`
    : `select * from model_proxy.${name}(${list})`
}

/** Casts a parameter. JSON and lists of bytea are cast from text, because drivers would encode them differently. */
function castParameter(place: string, markedType: string): string {
  const type = markedType.replace(/[?=]$/, '')
  if (/^jsonb?$/.test(type)) return `${place}::text::${type}`
  return /^(jsonb?|bytea)\[\]$/.test(type) ? `${place}::text[]::${type}` : `${place}::${type}`
}
