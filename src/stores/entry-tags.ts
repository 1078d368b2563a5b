/**
 * Integrity tags of entries: bytes that others wrote into Redis, or moved from one name to another, are not served.
 *
 * Only AES-256-GCM's tag is used, over the name and the bytes, which stay readable: several GB/s, where a hash would take milliseconds
 * for a large response. Nonces are random; after 2^32 entries under one key the chance of a repeated nonce is 2^-33.
 */
import { createCipheriv, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'

export interface EntryTags {
  /** Returns the bytes with their tag in front. */
  tag(name: string, bytes: Uint8Array): Uint8Array
  /** Returns the bytes without a valid tag; null when the tag is wrong. */
  check(name: string, tagged: Uint8Array): Uint8Array | null
}

export interface TagKeys {
  /** Creates and checks tags. */
  current: Uint8Array
  /** Checks tags from before the last rotation. */
  previous: Uint8Array | null
}

const NONCE_BYTES = 12
const MAC_BYTES = 16
/** Length of nonce and tag before an entry's bytes. windows.lua has the same number. */
export const TAG_BYTES = NONCE_BYTES + MAC_BYTES
const ALGORITHM = 'aes-256-gcm'
const KEY_BYTES = 32
const PURPOSE = 'entries of the fast store'
/** Nonces drawn at once: a single draw costs as much as a tag. */
const NONCES_A_DRAW = 256

/** With `installationId`, a tag of one installation is wrong in another, even with the same key. */
export function createEntryTags({ current, previous }: TagKeys, installationId: string): EntryTags {
  const [key, formerKey] = [current, previous].map(secret => secret && deriveKey(secret, installationId))
  if (!key) throw new Error('Tags need a key')
  const drawNonce = createNonces()

  return {
    tag(name, bytes) {
      const nonce = drawNonce()
      return Buffer.concat([nonce, computeMac(key, nonce, name, bytes), bytes])
    },
    check(name, tagged) {
      if (tagged.length < TAG_BYTES) return null
      const nonce = tagged.subarray(0, NONCE_BYTES)
      const mac = tagged.subarray(NONCE_BYTES, TAG_BYTES)
      const bytes = tagged.subarray(TAG_BYTES)
      const isRight = (with_: Uint8Array) => timingSafeEqual(mac, computeMac(with_, nonce, name, bytes))
      return isRight(key) || (formerKey && isRight(formerKey)) ? bytes : null
    },
  }
}

function deriveKey(secret: Uint8Array, installationId: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, installationId, PURPOSE, KEY_BYTES))
}

function computeMac(key: Uint8Array, nonce: Uint8Array, name: string, bytes: Uint8Array): Uint8Array {
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: MAC_BYTES })
  cipher.setAAD(bytes)
  // The name is encrypted, and only the tag is used: GCM keeps name and bytes apart.
  cipher.update(name, 'utf8')
  cipher.final()
  return cipher.getAuthTag()
}

function createNonces(): () => Uint8Array {
  let drawn = Buffer.alloc(0)
  let at = 0
  return () => {
    if (at === drawn.length) {
      drawn = randomBytes(NONCE_BYTES * NONCES_A_DRAW)
      at = 0
    }
    at += NONCE_BYTES
    return drawn.subarray(at - NONCE_BYTES, at)
  }
}
