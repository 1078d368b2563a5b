/** Encrypts and decrypts secrets with the configured encryption key. Its errors state how to fix the configuration. */
import { createError } from '../../errors/errors.ts'
import { withTimeout } from '../../event-loop/timeouts.ts'
import type { Database } from '../../postgres/database.ts'
import { readProviderKey } from '../../postgres/projects.ts'
import { openSealedBytes, openSecret, type SealContext, sealSecret } from '../../stores/seal.ts'
import { type EncryptionConfig, type EncryptionKeys, readEncryptionKeys } from './encryption-key.ts'

export interface Vault {
  /** Encrypts a secret. Throws a 503 ProxyError when ENCRYPTION_KEY is not set. */
  seal(secret: string, owner: SealContext): Promise<Uint8Array>
  /** Decrypts a secret. Throws a 503 ProxyError when ENCRYPTION_KEY is not set, or no key of the rotation decrypts it. */
  open(sealed: Uint8Array, owner: SealContext): Promise<string>
  /** Encrypts a secret again with the current key if another key of the rotation encrypted it; null if it needs no change. Throws as `open` does. */
  reseal(sealed: Uint8Array, owner: SealContext): Promise<Uint8Array | null>
}

/** `readKeys` is called at first use, and again after a failure. */
export function createVault(readKeys: () => Promise<EncryptionKeys>): Vault {
  let reading: Promise<EncryptionKeys> | null = null

  async function read(owner: SealContext, use: string): Promise<{ current: Uint8Array; others: Uint8Array[] }> {
    reading ??= readKeys()
    const { current, others } = await reading.catch(error => {
      reading = null
      const problem = error instanceof Error ? error.message : String(error)
      throw createError('encryptionKeyUnreadable', { provider: owner.provider, use, problem }, error)
    })
    if (current === null) throw createError('encryptionKeyMissing', { provider: owner.provider, use })
    return { current, others }
  }

  return {
    async seal(secret, owner) {
      return sealSecret(secret, owner, (await read(owner, 'stored')).current)
    },

    async open(sealed, owner) {
      const { current, others } = await read(owner, 'used')
      for (const key of [current, ...others]) {
        const secret = openSecret(sealed, owner, key)
        if (secret !== null) return secret
      }
      throw createError('encryptionKeyChanged', { provider: owner.provider })
    },

    async reseal(sealed, owner) {
      const { current, others } = await read(owner, 'encrypted again')
      if (openSealedBytes(sealed, owner, current) !== null) return null
      for (const key of others) {
        const secret = openSealedBytes(sealed, owner, key)
        if (secret !== null) return sealSecret(secret, owner, current)
      }
      throw createError('encryptionKeyMismatch', { provider: owner.provider })
    },
  }
}

/** Opens the vault of the configured encryption key. */
export const openVault = (config: EncryptionConfig): Vault => createVault(() => readEncryptionKeys(config))

/** The last four characters of a shorter key are not shown, because they would reveal too much. */
const MIN_LENGTH_TO_SHOW = 12

/** Encrypts a provider key. Returns it with the characters that show people which key it is. */
export async function sealKey(vault: Pick<Vault, 'seal'>, key: string, owner: SealContext) {
  const sealed = await vault.seal(key, owner)
  return { sealed, last_four: key.length < MIN_LENGTH_TO_SHOW ? '****' : key.slice(-4) }
}

const TIME_LIMIT_MS = 1_000

/**
 * Reads a project's encrypted key and decrypts it. Returns null when there is none. Throws a 503 ProxyError when the database is unavailable
 * or the key cannot be decrypted.
 */
export async function decryptStoredKey(
  database: Database,
  vault: Vault,
  owner: SealContext,
  name: string | null,
): Promise<string | null> {
  const reading = readProviderKey(database, owner, name)
  const sealed = await withTimeout(TIME_LIMIT_MS, reading).catch(cause => {
    throw createError('providerKeyUnreadable', { provider: owner.provider }, cause)
  })
  return sealed && vault.open(sealed, owner)
}
