/** The keys that provider keys are sealed with: from the environment, or from a file beside the embedded database. */
import { randomBytes } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Config } from '../../config.ts'

export interface EncryptionKeys {
  /** Seals and opens; null where none is set. */
  current: Uint8Array | null
  /** Opens what was sealed before the last rotation. */
  previous: Uint8Array | null
}

export type EncryptionConfig = Pick<Config, 'encryptionKey' | 'encryptionKeyPrevious' | 'databaseUrl' | 'dataDir'>

/** Makes the file where there is none. Throws where it holds something else than a key. */
export async function readEncryptionKeys(config: EncryptionConfig): Promise<EncryptionKeys> {
  const fromFile = config.encryptionKey === null && config.databaseUrl === null
  return {
    current: fromFile ? await readKeyFile(config.dataDir) : config.encryptionKey,
    previous: config.encryptionKeyPrevious,
  }
}

const KEY_BYTES = 32

async function readKeyFile(dataDir: string): Promise<Uint8Array> {
  const file = join(resolve(dataDir), 'encryption.key')
  const text = await readFile(file, 'utf8').catch(() => makeKeyFile(file))
  const key = Buffer.from(text, 'base64')
  if (key.length === KEY_BYTES) return key
  throw new Error(`${file} must hold 32 bytes in base64. Restore it, or set ENCRYPTION_KEY`)
}

/** Returns what the file then holds: another process may have been first. */
async function makeKeyFile(file: string): Promise<string> {
  const draft = `${file}.${crypto.randomUUID()}`
  await mkdir(resolve(file, '..'), { recursive: true })
  await writeFile(draft, `${randomBytes(KEY_BYTES).toString('base64')}\n`, { mode: 0o600, flag: 'wx' })
  try {
    // Complete from its first moment, and never in place of another.
    await link(draft, file)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  } finally {
    await rm(draft, { force: true })
  }
  return readFile(file, 'utf8')
}
