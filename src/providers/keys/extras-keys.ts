/** Derives the keys for the MACs of provider extras from the encryption keys, so that they are the same in every process and after a restart. */
import { hkdfSync } from 'node:crypto'
import type { ExtrasKeys } from '../../formats/chat/provider-extras.ts'
import type { EncryptionKeys } from './encryption-key.ts'

/** Returns the keys for one provider and model: the current one first, then the next and the previous one of a rotation. */
export type ExtrasKeyDerivation = (provider: string, model: string) => Promise<ExtrasKeys>

const PURPOSE = 'provider extras'
const KEY_BYTES = 32

/**
 * The installation id replaces ENCRYPTION_KEY when none is set; anyone who can read the database can then create MACs. Secrets are read at first
 * use, and again after a failure.
 */
export function createExtrasKeyDerivation(
  readKeys: () => Promise<EncryptionKeys>,
  readInstallationId: () => Promise<string>,
): ExtrasKeyDerivation {
  let reading: Promise<Uint8Array[]> | null = null

  async function readSecrets(): Promise<Uint8Array[]> {
    const { current, others } = await readKeys()
    return [current ?? Buffer.from(await readInstallationId()), ...others]
  }

  return async (provider, model) => {
    reading ??= readSecrets()
    const secrets = await reading.catch(error => {
      reading = null
      throw error
    })
    const info = JSON.stringify([PURPOSE, provider, model])
    return secrets.map(secret => Buffer.from(hkdfSync('sha256', secret, '', info, KEY_BYTES)).toString('base64'))
  }
}
