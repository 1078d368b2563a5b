/** Reads a project's encrypted key and decrypts it. */
import { refuse } from '../../errors.ts'
import { withinTimeLimit } from '../../event-loop/time-limit.ts'
import type { Database } from '../../postgres/database.ts'
import { readProviderKey } from '../../postgres/projects.ts'
import type { KeyOwner } from './seal.ts'
import type { Vault } from './vault.ts'

const TIME_LIMIT_MS = 1_000

/** Returns null when there is none. Throws a 503 ProxyError when the database is unavailable or the key cannot be decrypted. */
export async function openStoredKey(database: Database, vault: Vault, owner: KeyOwner): Promise<string | null> {
  const reading = readProviderKey(database, owner.projectId, owner.provider)
  const sealed = await withinTimeLimit(TIME_LIMIT_MS, reading).catch(cause => {
    throw refuse('providerKeyUnread', { provider: owner.provider }, cause)
  })
  return sealed && vault.open(sealed, owner)
}
