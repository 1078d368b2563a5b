/** Calls SQL functions on behalf of a user, through act_as(): reads under row-level security, changes under the functions' own checks. */
import type { Database } from '../database.ts'

export interface Actor {
  /** The user's e-mail address, as the audit log shows it. */
  name: string
  userId: number
  /** Null for a browser session. */
  adminKeyId: number | null
  /** The client's address. */
  address: string
}

/** SQL types by the function's parameter names. `project` stands for a project's id, for a function that takes the project's name. */
type Parameters = Readonly<Record<string, string>>

export type Call<Values, Row> = (database: Database, actor: Actor, values: Values) => Promise<Row[]>

const ACT_AS = 'select act_as($1::text::json, $2::boolean, $3::text, $4::text::json) as row'

/** Defines a function that reads. Rows come as JSON: times are ISO text. */
export function defineRead<Values extends object, Row>(name: string, parameters: Parameters): Call<Values, Row> {
  return define(name, parameters, true)
}

/** Defines a function that changes data. A scalar result comes as `{ result }`. */
export function defineChange<Values extends object, Row = { result: unknown }>(
  name: string,
  parameters: Parameters,
): Call<Values, Row> {
  return define(name, parameters, false)
}

function define<Values extends object, Row>(name: string, parameters: Parameters, reads: boolean): Call<Values, Row> {
  const given = Object.entries(parameters)
  const columns = given.map(([parameter, type]) => `${parameter} ${type === 'project' ? 'bigint' : type}`)
  const passed = given.map(([parameter, type]) =>
    type === 'project' ? `${parameter} => name_project(a.${parameter})` : `${parameter} => a.${parameter}`,
  )
  const statement =
    given.length === 0
      ? `select result.* from ${name}() as result`
      : `select result.* from json_to_record($1) as a (${columns.join(', ')}), ${name}(${passed.join(', ')}) as result`
  return async (database, { name: actorName, userId, adminKeyId, address }, values) => {
    const actor = JSON.stringify({ name: actorName, user_id: userId, admin_key_id: adminKeyId, address })
    const rows = await database.call<{ row: Row }>(ACT_AS, [actor, reads, statement, JSON.stringify(values)])
    return rows.map(({ row }) => row)
  }
}
