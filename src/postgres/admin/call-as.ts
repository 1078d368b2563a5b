/** Calls SQL functions on behalf of a user through run_as_actor(). Row-level security limits reads; functions check changes themselves. */
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
import { formatBytea, toJson } from '../wire-format.ts'

/** The user on whose behalf a function is called, and the database. */
export interface Actor {
  database: Database
  /** The user's e-mail address, as the audit log shows it. */
  name: string
  userId: number
  /** Null for a browser session. */
  adminKeyId: number | null
  /** The client's IP address. */
  address: string
  /** The request with an idempotency key of which each change is a part. */
  idempotent?: IdempotentRequest
}

/** A request with an idempotency key. */
export interface IdempotentRequest {
  /** The admin key or the user who sent it. */
  caller: string
  /** Hex SHA-256 of the key. */
  key_hash: string
  /** Hex SHA-256 of the request. */
  request_hash: string
  /** A random UUID. */
  attempt: string
}

/** The parameter `project` accepts a project's name, its id, or null for all projects. */
type WithProjectId<Arguments> = { [P in keyof Arguments]: P extends 'project' ? number | string | null : Arguments[P] }

export type ActorArguments<Name extends FunctionName> = WithProjectId<ArgumentsOf<Name>>
/** A row that a function returns, as JSON. */
export type JsonRowOf<Name extends FunctionName> = RowOf<Name, JsonValues>

interface Options {
  /** True for a slow read that may miss the last seconds. It runs on a standby, if there is one. */
  mayLag?: boolean
}

/** Calls a function. A stable function runs as a read; any other counts as a change. */
export async function callAsActor<Name extends FunctionName>(
  actor: Actor,
  name: Name,
  given: ActorArguments<Name>,
  { mayLag = false }: Options = {},
): Promise<ResultOf<Name, JsonValues>> {
  const { takes, ...described }: { takes: Readonly<Record<string, string>>; reads?: true } = SQL_FUNCTIONS[name]
  const encoded = Object.entries(given).map(([name, value]) => [
    name,
    value instanceof Uint8Array ? formatBytea(value) : value,
  ])
  const values: Readonly<Record<string, unknown>> = Object.fromEntries(encoded)
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

const RUN_AS_ACTOR = 'select model_proxy.run_as_actor($1::text::json, $2::boolean, $3::text, $4::text::json) as row'

/** Runs a statement that reads its values from $1 as JSON. Returns its rows as JSON. */
export async function runAsActor<Row>(
  { database, name, userId, adminKeyId, address, idempotent }: Actor,
  statement: string,
  values: object,
  { reads, mayLag = false }: Options & { reads: boolean },
): Promise<Row[]> {
  const actor = JSON.stringify({ name, user_id: userId, admin_key_id: adminKeyId, address, idempotent })
  const from = mayLag ? database.readReplica : database
  const rows = await from.call<{ row: Row }>(RUN_AS_ACTOR, [actor, reads, statement, toJson(values)])
  return rows.map(({ row }) => row)
}
