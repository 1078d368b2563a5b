/** The sealed form of a provider key: AES-256-GCM, bound to the one project and provider that it is for. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

export interface KeyOwner {
  projectId: number
  provider: string
}

const ALGORITHM = 'aes-256-gcm'
/** First byte of the form: version, nonce, ciphertext, tag. */
const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16
const encoder = new TextEncoder()

/** `encryptionKey`: 32 bytes. The same secret seals differently each time. */
export function sealSecret(secret: string, owner: KeyOwner, encryptionKey: Uint8Array): Uint8Array {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(ALGORITHM, encryptionKey, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(associatedData(owner))
  const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
  return Buffer.concat([Buffer.of(VERSION), nonce, ciphertext, cipher.getAuthTag()])
}

/** Null where it was sealed with another key, for another owner, in another form, or was changed since. */
export function openSecret(sealed: Uint8Array, owner: KeyOwner, encryptionKey: Uint8Array): string | null {
  if (sealed[0] !== VERSION || sealed.length <= 1 + NONCE_BYTES + TAG_BYTES) return null
  const nonce = sealed.subarray(1, 1 + NONCE_BYTES)
  const decipher = createDecipheriv(ALGORITHM, encryptionKey, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(associatedData(owner))
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
  try {
    const secret = decipher.update(sealed.subarray(1 + NONCE_BYTES, -TAG_BYTES))
    return Buffer.concat([secret, decipher.final()]).toString('utf8')
  } catch {
    return null
  }
}

/** What a sealed key cannot be separated from: moved to another row, it does not open. */
function associatedData({ projectId, provider }: KeyOwner): Uint8Array {
  return encoder.encode(JSON.stringify([VERSION, projectId, provider]))
}
