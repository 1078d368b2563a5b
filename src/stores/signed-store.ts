/** A fast store with signed entries. An entry with an invalid signature is a miss, and is deleted. Messages are signed, too. */

import { createCipheriv, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { type FastStore, readAliasTarget } from './fast-store.ts'

export interface EntrySigner {
  /** Returns the signature followed by the bytes. */
  sign(name: string, bytes: Uint8Array): Uint8Array
  /** Returns the bytes without their signature; null when the signature is invalid. */
  verify(name: string, signed: Uint8Array): Uint8Array | null
}

export interface SigningKeys {
  /** Signs and verifies. */
  current: Uint8Array
  /** Verify signatures of processes with another current key, while the key is rotated. */
  others: readonly Uint8Array[]
}

const NONCE_BYTES = 12
const MAC_BYTES = 16
/** Length of nonce and authentication tag before an entry's bytes. windows.lua has the same number. */
export const SIGNATURE_BYTES = NONCE_BYTES + MAC_BYTES
const ALGORITHM = 'aes-256-gcm'
const KEY_BYTES = 32
const PURPOSE = 'entries of the fast store'
/** Nonces generated at once, because generating one costs as much as a signature. */
const NONCES_PER_DRAW = 256

/** Creates a signer. With the same key, signatures of one `installationId` are invalid in another. */
export function createEntrySigner({ current, others }: SigningKeys, installationId: string): EntrySigner {
  const [key, ...otherKeys] = [current, ...others].map(secret => deriveKey(secret, installationId))
  if (!key) throw new Error('entry signer has no current key; pass one')
  const drawNonce = createNonceSource()

  return {
    sign(name, bytes) {
      const nonce = drawNonce()
      return Buffer.concat([nonce, computeMac(key, nonce, name, bytes), bytes])
    },
    verify(name, signed) {
      if (signed.length < SIGNATURE_BYTES) return null
      const nonce = signed.subarray(0, NONCE_BYTES)
      const mac = signed.subarray(NONCE_BYTES, SIGNATURE_BYTES)
      const bytes = signed.subarray(SIGNATURE_BYTES)
      const isValidWith = (candidate: Uint8Array) => timingSafeEqual(mac, computeMac(candidate, nonce, name, bytes))
      return isValidWith(key) || otherKeys.some(isValidWith) ? bytes : null
    },
  }
}

function deriveKey(secret: Uint8Array, installationId: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, installationId, PURPOSE, KEY_BYTES))
}

function computeMac(key: Uint8Array, nonce: Uint8Array, name: string, bytes: Uint8Array): Uint8Array {
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: MAC_BYTES })
  cipher.setAAD(bytes)
  // The name is encrypted, and only the authentication tag is used. GCM separates name and bytes.
  cipher.update(name, 'utf8')
  cipher.final()
  return cipher.getAuthTag()
}

function createNonceSource(): () => Uint8Array {
  let drawn = Buffer.alloc(0)
  let at = 0
  return () => {
    if (at === drawn.length) {
      drawn = randomBytes(NONCE_BYTES * NONCES_PER_DRAW)
      at = 0
    }
    at += NONCE_BYTES
    return drawn.subarray(at - NONCE_BYTES, at)
  }
}

/** Maximum bytes of cached verified entries. The same bytes under the same name are not verified again. */
const MAX_VERIFIED_BYTES = 16 * 1_048_576
/** Memory that a cached entry takes besides its bytes and its name. */
const VERIFIED_ENTRY_BYTES = 1_500
/** Larger entries are verified each time, at several GB/s. */
const MAX_VERIFIED_ENTRY_BYTES = 65_536

export interface SignedEntries {
  /** Returns a name's stored bytes without signatures; null when a signature is invalid. */
  verifyEntry(name: string, stored: Uint8Array | null): Uint8Array | null
  /** Returns the message with a signature that is valid for this name only. */
  signMessage(name: string, message: Uint8Array): Uint8Array
  /** Returns the message without its signature; null when the signature is invalid. */
  verifyMessage(name: string, signed: Uint8Array): Uint8Array | null
}

export interface SignedStoreOptions {
  signer: EntrySigner
  /** Called for each entry and message with an invalid signature. */
  onInvalidSignature(name: string): void
}

export function createSignedStore(
  store: FastStore,
  { signer, onInvalidSignature }: SignedStoreOptions,
): FastStore & SignedEntries {
  const verified = createVerifiedEntries()
  let invalidCount = 0

  function reportInvalid(name: string): void {
    invalidCount++
    onInvalidSignature(name)
  }

  function check(name: string, stored: Uint8Array): Uint8Array | null {
    const opened = verifyStored(signer, name, stored)
    if (!('invalid' in opened)) return opened.bytes
    reportInvalid(opened.invalid)
    store.deleteEntry(opened.invalid).catch(() => {})
    return null
  }

  function open(name: string, stored: Uint8Array | null): Uint8Array | null {
    return stored && check(name, stored)
  }

  /** Caches verified exact entries, because popular ones are read again and again. */
  function openExact(name: string, stored: Uint8Array | null): Uint8Array | null {
    if (!stored) return null
    return verified.find(name, stored) ?? verified.open(name, stored, bytes => check(name, bytes))
  }

  return {
    ...store,
    verifyEntry: open,
    invalidSignatures: () => invalidCount,
    signMessage: (name, message) => signer.sign(name, message),
    verifyMessage(name, signed) {
      const message = signer.verify(name, signed)
      if (!message) reportInvalid(name)
      return message
    },
    async count(batch) {
      const counted = await store.count(batch)
      return { ...counted, entries: counted.entries.map((stored, i) => openExact(batch.entries[i] ?? '', stored)) }
    },
    writeEntry: (name, bytes, ttlMs) => store.writeEntry(name, signer.sign(name, bytes), ttlMs),
    async readEntries(names) {
      const stored = await store.readEntries(names)
      return stored.map((bytes, i) => open(names[i] ?? '', bytes))
    },
    writeEntries: entries =>
      store.writeEntries(entries.map(entry => ({ ...entry, bytes: signer.sign(entry.name, entry.bytes) }))),
  }
}

const LINE_FEED = 10

/** The verified bytes, or the name of the entry with an invalid signature. */
type VerificationResult = { bytes: Uint8Array | null } | { invalid: string }

/** Verifies an entry. An alias is followed by the entry that it names, each with a signature. Without that entry, the bytes are null. */
function verifyStored(signer: EntrySigner, name: string, stored: Uint8Array): VerificationResult {
  const target = readAliasTarget(stored, SIGNATURE_BYTES)
  if (target === null) {
    const bytes = signer.verify(name, stored)
    return bytes ? { bytes } : { invalid: name }
  }
  const end = stored.indexOf(LINE_FEED, SIGNATURE_BYTES) + 1
  const alias = signer.verify(name, stored.subarray(0, end))
  if (!alias) return { invalid: name }
  if (end === stored.length) return { bytes: null }
  if (!signer.verify(target, stored.subarray(end))) return { invalid: target }
  // Moving the alias next to the entry's bytes avoids a copy of the entry, which may be long.
  const start = end + SIGNATURE_BYTES - alias.length
  stored.copyWithin(start, SIGNATURE_BYTES, end)
  return { bytes: stored.subarray(start) }
}

interface VerifiedEntry {
  stored: Buffer
  opened: Uint8Array
}

function createVerifiedEntries() {
  const verified = new LRUCache<string, VerifiedEntry>({
    maxSize: MAX_VERIFIED_BYTES,
    sizeCalculation: ({ stored, opened }, name) => VERIFIED_ENTRY_BYTES + name.length + stored.length + opened.length,
  })

  return {
    /** Returns the cached result for a name's stored bytes. Undefined when the bytes differ from those that were verified. */
    find(name: string, stored: Uint8Array): Uint8Array | undefined {
      const entry = verified.get(name)
      return entry?.stored.equals(stored) ? entry.opened : undefined
    },
    /** Verifies the bytes with `open`, which may overwrite its input, and caches the result. */
    open(name: string, stored: Uint8Array, open: (stored: Uint8Array) => Uint8Array | null): Uint8Array | null {
      if (stored.length > MAX_VERIFIED_ENTRY_BYTES) return open(stored)
      // The bytes are copied, because they are a view of a larger buffer.
      const copy = Buffer.from(stored)
      const opened = open(stored)
      if (opened) verified.set(name, { stored: copy, opened: Buffer.from(opened) })
      return opened
    },
  }
}
