/** Calls SQL functions on behalf of a user, through run_as_actor(): reads under row-level security, changes under the functions' own checks. */
import {
  type ArgumentsOf,
  type FunctionName,
  hasSingleResult,
  type JsonValues,
  type ResultOf,
  type RowOf,
} from '../call.ts'
import type { Database } from '../database.ts'
import { SQL_FUNCTIONS } from '../functions.generated.ts'
import { toJson } from '../wire-format.ts'

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

/** Where a function takes a project's name as `project`, its id does, too; null for all projects together. */
type NamesById<Arguments> = { [P in keyof Arguments]: P extends 'project' ? number | string | null : Arguments[P] }

export type ActorArguments<Name extends FunctionName> = NamesById<ArgumentsOf<Name>>
/** A row that a function returns, in JSON. */
export type JsonRowOf<Name extends FunctionName> = RowOf<Name, JsonValues>

interface Options {
  /** For what takes long and may miss the last seconds: it is asked of a standby, where there is one. */
  mayLag?: boolean
}

/** A function that is stable reads; any other changes something. */
export async function callAsActor<Name extends FunctionName>(
  actor: Actor,
  name: Name,
  given: ActorArguments<Name>,
  { mayLag = false }: Options = {},
): Promise<ResultOf<Name, JsonValues>> {
  const { takes, ...described }: { takes: Readonly<Record<string, string>>; reads?: true } = SQL_FUNCTIONS[name]
  const values: Readonly<Record<string, unknown>> = given
  const passed = Object.keys(takes).filter(parameter => values[parameter] !== undefined)
  const isById = (parameter: string) => parameter === 'project' && typeof values[parameter] === 'number'
  const typeOf = (parameter: string) => (isById(parameter) ? 'bigint' : takes[parameter]?.replace(/[?=]$/, ''))
  const columns = passed.map(parameter => `${parameter} ${typeOf(parameter)}`)
  const list = passed.map(parameter => {
    const value = `a.${parameter}`
    return `${parameter} => ${isById(parameter) ? `find_project_name(${value})` : value}`
  })
  const from = columns.length === 0 ? '' : `json_to_record($1) as a (${columns.join(', ')}), `
  const statement = `select result.* from ${from}${name}(${list.join(', ')}) as result`
  const rows = await runAsActor<{ result?: unknown }>(actor, statement, values, {
    reads: described.reads ?? false,
    mayLag,
  })
  return (hasSingleResult(name) ? rows[0]?.result : rows) as ResultOf<Name, JsonValues>
}

const ACT_AS = 'select model_proxy.run_as_actor($1::text::json, $2::boolean, $3::text, $4::text::json) as row'

/** Runs a statement that finds its values in $1, as JSON. Its rows come as JSON. */
export async function runAsActor<Row>(
  { database, name, userId, adminKeyId, address }: Actor,
  statement: string,
  values: object,
  { reads, mayLag = false }: Options & { reads: boolean },
): Promise<Row[]> {
  const actor = JSON.stringify({ name, user_id: userId, admin_key_id: adminKeyId, address })
  const from = mayLag ? database.readReplica : database
  const rows = await from.call<{ row: Row }>(ACT_AS, [actor, reads, statement, toJson(values)])
  return rows.map(({ row }) => row)
}
