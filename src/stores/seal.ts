/** Encrypts provider keys and other secrets with AES-256-GCM, bound to their project and provider. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

export interface SealContext {
  projectId: number
  provider: string
}

const ALGORITHM = 'aes-256-gcm'
/** First byte of the format, which is version, nonce, ciphertext, tag. */
const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16
const encoder = new TextEncoder()

/** Encrypts a secret with a 32-byte key. Each call has another result. */
export function sealSecret(secret: string | Uint8Array, owner: SealContext, encryptionKey: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(ALGORITHM, encryptionKey, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(associatedData(owner))
  const ciphertext = typeof secret === 'string' ? cipher.update(secret, 'utf8') : cipher.update(secret)
  return Buffer.concat([Buffer.of(VERSION), nonce, ciphertext, cipher.final(), cipher.getAuthTag()])
}

export const isSealed = (bytes: Uint8Array) => bytes[0] === VERSION

export function openSecret(sealed: Uint8Array, owner: SealContext, encryptionKey: Uint8Array): string | null {
  return openSealedBytes(sealed, owner, encryptionKey)?.toString('utf8') ?? null
}

/** Decrypts a secret. Returns null if the key, the owner or the format differs, or if the bytes were changed. */
export function openSealedBytes(sealed: Uint8Array, owner: SealContext, encryptionKey: Uint8Array): Buffer | null {
  if (!isSealed(sealed) || sealed.length <= 1 + NONCE_BYTES + TAG_BYTES) return null
  const nonce = sealed.subarray(1, 1 + NONCE_BYTES)
  const decipher = createDecipheriv(ALGORITHM, encryptionKey, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(associatedData(owner))
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
  try {
    const secret = decipher.update(sealed.subarray(1 + NONCE_BYTES, -TAG_BYTES))
    return Buffer.concat([secret, decipher.final()])
  } catch {
    return null
  }
}

/** The authenticated data. It prevents decryption of a secret that was moved to another row. */
function associatedData({ projectId, provider }: SealContext): Uint8Array {
  return encoder.encode(JSON.stringify([VERSION, projectId, provider]))
}
