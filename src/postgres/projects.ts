/** Reads projects and their sealed provider keys. */
import type { Database } from './database.ts'

/** Returns the name of the oldest project; null if there is none. */
export async function findFirstProject(database: Database): Promise<string | null> {
  const [row] = await database.call<{ name: string }>('select name from model_proxy.projects order by id limit 1', [])
  return row?.name ?? null
}

/** Returns the limits of a plan's test keys. */
export async function readTestLimits(
  database: Database,
  plan: string,
): Promise<{ requestsPerMinute: number; requestsPerMonth: number }> {
  const [row] = await database.call<{ minute: number; month: number }>(
    'select test_requests_per_minute as minute, test_requests_per_month as month from model_proxy.plans where name = $1::text',
    [plan],
  )
  if (!row) throw new Error(`the plan ${plan} does not exist`)
  return { requestsPerMinute: row.minute, requestsPerMonth: row.month }
}

const READ_SEALED = `
select sealed
from model_proxy.provider_keys
where project_id = $1::bigint and provider = $2::text and ($3::text is null or name = $3::text)
order by name
limit 1`

/** Returns a sealed provider key; null if there is none. If `name` is null, the first by name. */
export async function readProviderKey(
  database: Database,
  { projectId, provider }: { projectId: number; provider: string },
  name: string | null,
): Promise<Uint8Array | null> {
  const [row] = await database.call<{ sealed: Uint8Array }>(READ_SEALED, [projectId, provider, name])
  return row?.sealed ?? null
}
