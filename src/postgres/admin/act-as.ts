/** Calls SQL functions on behalf of a user, through act_as(): reads under row-level security, changes under the functions' own checks. */
import type { Database } from '../database.ts'

/** Who calls, and over which connections. */
export interface Actor {
  database: Database
  /** The user's e-mail address, as the audit log shows it. */
  name: string
  userId: number
  /** Null for a browser session. */
  adminKeyId: number | null
  /** The client's address. */
  address: string
}

/** What values of SQL types are in JSON. `project` stands for a project's id, for a function that takes the project's name: null for all projects together. */
interface SqlTypes {
  bigint: number
  numeric: number
  integer: number
  smallint: number
  boolean: boolean
  text: string
  /** ISO 8601. */
  timestamptz: string
  date: string
  /** ISO 8601, such as PT60S. */
  interval: string
  /** PostgreSQL's text format, `\\x` and hex. */
  bytea: string
  jsonb: Record<string, unknown>
  'bigint[]': number[]
  'text[]': string[]
  project: number
}

/** Types by the function's parameter names. One with `?` may be left out; the function gets null then. */
type Signature = Readonly<Record<string, keyof SqlTypes | `${keyof SqlTypes}?`>>

type TypeOf<Name> = Name extends `${infer Type extends keyof SqlTypes}?`
  ? SqlTypes[Type] | null | undefined
  : SqlTypes[Name & keyof SqlTypes]

type Values<P> = { [N in keyof P as P[N] extends `${string}?` ? never : N]: TypeOf<P[N]> } & {
  [N in keyof P as P[N] extends `${string}?` ? N : never]?: TypeOf<P[N]>
}

type Call<P, Row> = (actor: Actor, values: Values<P>) => Promise<Row[]>

/** The values that a defined function takes. */
export type ValuesOf<Defined extends (...given: never[]) => unknown> = Parameters<Defined>[1]

const ACT_AS = 'select model_proxy.act_as($1::text::json, $2::boolean, $3::text, $4::text::json) as row'

/** Half a surrogate pair is no text: PostgreSQL reads none in JSON, and as a parameter of its own it is sent like this. */
const wellFormed = (_: string, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value)

/** Defines a function that reads. Rows come as JSON: times are ISO text. */
export const defineRead =
  <Row>() =>
  <const P extends Signature>(name: string, parameters: P): Call<P, Row> =>
    define(name, parameters, true)

/** As `defineRead`, for what takes long and may miss the last seconds: it is asked of a standby, where there is one. */
export const defineLaggingRead =
  <Row>() =>
  <const P extends Signature>(name: string, parameters: P): Call<P, Row> =>
    define(name, parameters, true, true)

/** Defines a function that changes data. A scalar result comes as `{ result }`. */
export const defineChange =
  <Row = { result: unknown }>() =>
  <const P extends Signature>(name: string, parameters: P): Call<P, Row> =>
    define(name, parameters, false)

function passedAs(type: Signature[string], value: string): string {
  if (type === 'project') return `name_project(${value})`
  return type === 'project?' ? `case when ${value} is not null then name_project(${value}) end` : value
}

function define<P extends Signature, Row>(name: string, parameters: P, reads: boolean, mayLag = false): Call<P, Row> {
  const taken = Object.entries(parameters)
  const columns = taken.map(([parameter, type]) => `${parameter} ${type.replace('?', '').replace('project', 'bigint')}`)
  const passed = taken.map(([parameter, type]) => `${parameter} => ${passedAs(type, `a.${parameter}`)}`)
  const statement =
    taken.length === 0
      ? `select result.* from ${name}() as result`
      : `select result.* from json_to_record($1) as a (${columns.join(', ')}), ${name}(${passed.join(', ')}) as result`
  return async ({ database, name: actorName, userId, adminKeyId, address }, values) => {
    const actor = JSON.stringify({ name: actorName, user_id: userId, admin_key_id: adminKeyId, address })
    const given = JSON.stringify(values, wellFormed)
    const rows = await (mayLag ? database.lagging : database).call<{ row: Row }>(ACT_AS, [
      actor,
      reads,
      statement,
      given,
    ])
    return rows.map(({ row }) => row)
  }
}
