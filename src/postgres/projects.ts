/** Reads of projects and of the secrets that they have sealed. */
import type { Database } from './database.ts'

/** Name of the first project that was made; null where there is none yet. */
export async function findFirstProject(database: Database): Promise<string | null> {
  const [row] = await database.call<{ name: string }>('select name from model_proxy.projects order by id limit 1', [])
  return row?.name ?? null
}

export interface SealedKey {
  projectId: number
  provider: string
  sealed: Uint8Array
}

const READ_SEALED = `
select sealed
from model_proxy.provider_keys
where project_id = $1::bigint and provider = $2::text and ($3::text is null or name = $3::text)
order by name
limit 1`

/** `name` is null for whichever comes first. */
export async function readProviderKey(
  database: Database,
  { projectId, provider }: Pick<SealedKey, 'projectId' | 'provider'>,
  name: string | null,
): Promise<Uint8Array | null> {
  const [row] = await database.call<{ sealed: Uint8Array }>(READ_SEALED, [projectId, provider, name])
  return row?.sealed ?? null
}

/** Of webhooks too, whose secrets are sealed as if `webhook` were a provider. */
const LIST_SEALED = `
select p.name as project, s.project_id as "projectId", s.provider, s.sealed
from (
    select project_id, provider, sealed from model_proxy.provider_keys
    union all
    select project_id, 'webhook', sealed from model_proxy.webhooks
) s
join model_proxy.projects p on p.id = s.project_id
order by p.name, s.provider`
const REPLACE_SEALED = `
with provider_key as (
    update model_proxy.provider_keys set sealed = $4::bytea where project_id = $1::bigint and provider = $2::text and sealed = $3::bytea
)
update model_proxy.webhooks set sealed = $4::bytea where project_id = $1::bigint and $2::text = 'webhook' and sealed = $3::bytea`

export function listSealedKeys(database: Database): Promise<(SealedKey & { project: string })[]> {
  return database.call(LIST_SEALED, [])
}

/** Stores the same secret encrypted anew, unless the key was replaced meanwhile. */
export async function replaceSealedForm(database: Database, before: SealedKey, after: Uint8Array): Promise<void> {
  await database.call(REPLACE_SEALED, [before.projectId, before.provider, before.sealed, after])
}
