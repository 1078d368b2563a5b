/** Calls stamp_entry() and delete_entry(): what becomes of a stored response that the hook was asked about again. */
import { call } from './call.ts'
import type { Database } from './database.ts'

export interface EntryName {
  projectId: number
  /** Hex SHA-256. */
  requestHash: string
}

/** Notes the rules under which exactly this body passed. */
export async function stampEntry(
  database: Database,
  { projectId, requestHash, body, policy }: EntryName & { body: Uint8Array; policy: string | null },
): Promise<void> {
  const passed = { with_policy: policy, response_hash: Bun.SHA256.hash(body, 'hex') }
  await call(database, 'stamp_entry', { of_project: projectId, of_request: requestHash, ...passed })
}

export async function deleteEntry(database: Database, { projectId, requestHash }: EntryName): Promise<void> {
  await call(database, 'delete_entry', { of_project: projectId, of_request: requestHash })
}
