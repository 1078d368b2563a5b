/** Calls set_entry_policy() and delete_entry(), which apply the hook's decision on a cached response that it checked again. */
import { callFunction } from './call.ts'
import type { Database } from './database.ts'

export interface CacheEntryKey {
  projectId: number
  /** Hex SHA-256. */
  requestHash: string
}

/** Records the version of the hook's rules that accepted exactly this body. */
export async function recordEntryPolicy(
  database: Database,
  { projectId, requestHash, body, policy }: CacheEntryKey & { body: Uint8Array; policy: string | null },
): Promise<void> {
  const passed = { with_policy: policy, response_hash: Bun.SHA256.hash(body, 'hex') }
  await callFunction(database, 'set_entry_policy', { of_project: projectId, of_request: requestHash, ...passed })
}

export async function deleteEntry(database: Database, { projectId, requestHash }: CacheEntryKey): Promise<void> {
  await callFunction(database, 'delete_entry', { of_project: projectId, of_request: requestHash })
}
