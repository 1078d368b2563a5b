/** Projects' sealed keys for direct providers; in this process alone are they ever open. */
import { sql } from 'kysely'
import type { Database } from './database.ts'

export interface SealedKey {
  projectId: number
  provider: string
  sealed: Uint8Array
}

/** Rejects, in one line, where there is no project of that name. */
export async function findProjectId(database: Database, project: string): Promise<number> {
  const { rows } = await sql<{ id: number }>`select find_project(${project}::text) as id`.execute(database.queries)
  const id = rows[0]?.id
  if (id === undefined) throw new Error('find_project() returned nothing')
  return id
}

/** In place of an earlier one. Rejects, in one line, where there is no such project or provider. */
export async function storeProviderKey(database: Database, key: SealedKey & { lastFour: string }): Promise<void> {
  await sql`select store_provider_key(
    ${key.projectId}::bigint, ${key.provider}::text, decode(${hex(key.sealed)}, 'hex'), ${key.lastFour}::text
  )`.execute(database.queries)
}

export async function readProviderKey(
  database: Database,
  projectId: number,
  provider: string,
): Promise<Uint8Array | null> {
  const { rows } = await sql<{ sealed: Uint8Array }>`select sealed from provider_keys
    where project_id = ${projectId}::bigint and provider = ${provider}::text`.execute(database.queries)
  return rows[0]?.sealed ?? null
}

export async function listSealedKeys(database: Database): Promise<(SealedKey & { project: string })[]> {
  const rows = await database.queries
    .selectFrom('provider_keys')
    .innerJoin('projects', 'projects.id', 'provider_keys.project_id')
    .select(['projects.name as project', 'project_id', 'provider', 'sealed'])
    .orderBy('projects.name')
    .orderBy('provider')
    .execute()
  return rows.map(row => ({ ...row, projectId: Number(row.project_id) }))
}

/** The same secret in another sealed form; leaves alone a key that was replaced meanwhile. */
export async function replaceSealedForm(database: Database, before: SealedKey, after: Uint8Array): Promise<void> {
  await sql`update provider_keys set sealed = decode(${hex(after)}, 'hex')
    where project_id = ${before.projectId}::bigint and provider = ${before.provider}::text
      and sealed = decode(${hex(before.sealed)}, 'hex')`.execute(database.queries)
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
