/**
 * Reads the keys that encrypt provider keys, from the environment or from a file beside the embedded database, and derives from them the keys for
 * the MACs of provider extras, so that these are the same in every process and after a restart.
 */
import { hkdfSync, randomBytes } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Config } from '../../config/config.ts'
import type { ExtrasKeys } from '../../formats/chat/provider-extras.ts'

export interface EncryptionKeys {
  /** The key that encrypts and decrypts; null when none is set. */
  current: Uint8Array | null
  /** The next and the previous key. They only decrypt, while the key is rotated. */
  others: Uint8Array[]
}

export type EncryptionConfig = Pick<
  Config,
  'encryptionKey' | 'encryptionKeyNext' | 'encryptionKeyPrevious' | 'databaseUrl' | 'dataDir'
>

/** Reads the keys. It creates the key file of an embedded database if there is none, and throws when the file does not contain a key. */
export async function readEncryptionKeys(config: EncryptionConfig): Promise<EncryptionKeys> {
  const fromFile = config.encryptionKey === null && config.databaseUrl === null
  return {
    current: fromFile ? await readKeyFile(config.dataDir) : config.encryptionKey,
    others: [config.encryptionKeyNext, config.encryptionKeyPrevious].filter(key => key !== null),
  }
}

const KEY_BYTES = 32

async function readKeyFile(dataDir: string): Promise<Uint8Array> {
  const file = join(resolve(dataDir), 'encryption.key')
  const text = await readFile(file, 'utf8').catch(() => createKeyFile(file))
  const key = Buffer.from(text, 'base64')
  if (key.length === KEY_BYTES) return key
  throw new Error(`${file} must contain 32 bytes in base64. Restore it, or set ENCRYPTION_KEY`)
}

/** Creates the file, unless another process created it first. Returns the file's content. */
async function createKeyFile(file: string): Promise<string> {
  const draft = `${file}.${crypto.randomUUID()}`
  await mkdir(resolve(file, '..'), { recursive: true })
  await writeFile(draft, `${randomBytes(KEY_BYTES).toString('base64')}\n`, { mode: 0o600, flag: 'wx' })
  try {
    // Linking is atomic: the file appears complete, and never replaces another one.
    await link(draft, file)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  } finally {
    await rm(draft, { force: true })
  }
  return readFile(file, 'utf8')
}

/** Returns the keys for one provider and model: the current one first, then the next and the previous one of a rotation. */
export type ExtrasKeyDerivation = (provider: string, model: string) => Promise<ExtrasKeys>

const PURPOSE = 'provider extras'

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
