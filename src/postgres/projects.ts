/** Projects, their keys and the keys of their providers. */
import type { Database } from './database.ts'
import { bigint, bytes, defineAction, defineStatement, readOne, runStatement, text } from './statement.ts'

const CREATE_PROJECT = defineStatement('select model_proxy.create_project($1::text, $2::text) as id', { id: bigint })
const ISSUE_KEY = defineStatement('select model_proxy.issue_key($1::text, $2::text, $3::text) as key', { key: text() })

export async function listProjectNames(database: Database): Promise<string[]> {
  const rows = await database.queries.selectFrom('projects').select('name').orderBy('id').execute()
  return rows.map(row => row.name)
}

export async function createProject(database: Database, name: string, plan: string): Promise<void> {
  await runStatement(database, CREATE_PROJECT, [name, plan])
}

/** Returns the key, which is not stored in clear. */
export async function issueKey(
  database: Database,
  project: string,
  type: 'project' | 'test',
  name: string,
): Promise<string> {
  const { key } = await readOne(database, ISSUE_KEY, [project, type, name])
  return key
}

export interface SealedKey {
  projectId: number
  provider: string
  sealed: Uint8Array
}

const FIND_PROJECT = defineStatement('select model_proxy.find_project($1::text) as id', { id: bigint })

/** Rejects with a one-line error when there is no project of that name. */
export async function findProjectId(database: Database, project: string): Promise<number> {
  const { id } = await readOne(database, FIND_PROJECT, [project])
  return id
}

export interface NamedKey extends SealedKey {
  lastFour: string
  name: string
  /** Null leaves it as it is, 1 at first. */
  weight: number | null
}

/** Replaces an earlier key of this name. Rejects with a one-line error when there is no such project or provider. */
export const storeProviderKey = defineAction<NamedKey>('store_provider_key', {
  projectId: 'bigint',
  provider: 'text',
  sealed: 'bytea',
  lastFour: 'text',
  name: 'text',
  weight: 'integer',
})

/** `name` is null for whichever comes first. */
export async function readProviderKey(
  database: Database,
  { projectId, provider }: Pick<SealedKey, 'projectId' | 'provider'>,
  name: string | null,
): Promise<Uint8Array | null> {
  const row = await database.queries
    .selectFrom('provider_keys')
    .select('sealed')
    .where('project_id', '=', projectId)
    .where('provider', '=', provider)
    .$if(name !== null, keys => keys.where('name', '=', name))
    .orderBy('name')
    .executeTakeFirst()
  return row?.sealed ?? null
}

/** Of webhooks too, whose secrets are sealed as if `webhook` were a provider. */
const LIST_SEALED = defineStatement(
  `select p.name as project, s.project_id as "projectId", s.provider, s.sealed
  from (
    select project_id, provider, sealed from model_proxy.provider_keys
    union all
    select project_id, 'webhook', sealed from model_proxy.webhooks
  ) s
  join model_proxy.projects p on p.id = s.project_id
  order by p.name, s.provider`,
  { project: text(), projectId: bigint, provider: text(), sealed: bytes },
)
const REPLACE_SEALED = defineStatement(
  `with provider_key as (
    update model_proxy.provider_keys set sealed = $4::bytea where project_id = $1::bigint and provider = $2::text and sealed = $3::bytea
  )
  update model_proxy.webhooks set sealed = $4::bytea where project_id = $1::bigint and $2::text = 'webhook' and sealed = $3::bytea`,
  {},
)

export function listSealedKeys(database: Database): Promise<(SealedKey & { project: string })[]> {
  return runStatement(database, LIST_SEALED)
}

/** Stores the same secret encrypted anew, unless the key was replaced meanwhile. */
export async function replaceSealedForm(database: Database, before: SealedKey, after: Uint8Array): Promise<void> {
  await runStatement(database, REPLACE_SEALED, [before.projectId, before.provider, before.sealed, after])
}
