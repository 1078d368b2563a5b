/** Names the storage providers of stored objects: the provider, and the key with which they were created. */
import { callFunction } from './call.ts'
import type { Database } from './database.ts'

/** The name of a provider key that was stored without a name. */
export const DEFAULT_KEY_NAME = 'default'

/** Returns the provider and the name of the key that was used. The default key has no name. */
export function storageProviderName(provider: string, key: string | null): string {
  return key === null || key === DEFAULT_KEY_NAME ? provider : `${provider}/${key}`
}

/** Returns the name of the key with which most of these objects were created; null if it is unknown. */
export async function findStorageKeyName(
  database: Database,
  { projectId, provider, ids }: { projectId: number; provider: string; ids: string[] },
): Promise<string | null> {
  const [storageProvider] = await callFunction(database, 'find_storage_providers', {
    of_project: projectId,
    of_provider: provider,
    ids,
  })
  return storageProvider ? (storageProvider.provider.split('/')[1] ?? DEFAULT_KEY_NAME) : null
}
