/** Reads the keys that encrypt provider keys: from the environment, or from a file beside the embedded database. */
import { randomBytes } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Config } from '../../config/config.ts'

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
