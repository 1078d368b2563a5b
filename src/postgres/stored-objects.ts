/** How files and batches, which providers keep, are told apart, and who keeps them. */
import { callFunction } from './call.ts'
import type { Database } from './database.ts'

/** Objects that a provider keeps for a project; Anthropic's have collections of their own. */
export type ObjectCollection = 'files' | 'batches' | 'message_batches' | 'anthropic_files'

/** The name of a provider's key that was stored without one. */
export const DEFAULT_KEY_NAME = 'default'

/** The provider, and the name of the key that was used: none for DEFAULT_KEY. */
export function storageProviderName(provider: string, key: string | null): string {
  return key === null || key === DEFAULT_KEY_NAME ? provider : `${provider}/${key}`
}

/** The name of the key with which most of these objects were made; null where that is not known. */
export async function findStorageKeyName(
  database: Database,
  { projectId, provider, ids }: { projectId: number; provider: string; ids: string[] },
): Promise<string | null> {
  const [keeper] = await callFunction(database, 'find_storage_providers', {
    of_project: projectId,
    of_provider: provider,
    ids,
  })
  return keeper ? (keeper.provider.split('/')[1] ?? DEFAULT_KEY_NAME) : null
}
