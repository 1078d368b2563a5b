/** A fast store whose entries carry integrity tags: an entry with a wrong tag is a miss, and is deleted. Messages carry tags as well. */

import { createCipheriv, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { type FastStore, readAliasTarget } from './fast-store.ts'

export interface EntrySigner {
  /** Returns the bytes with their tag in front. */
  sign(name: string, bytes: Uint8Array): Uint8Array
  /** Returns the bytes without a valid tag; null when the tag is wrong. */
  verify(name: string, tagged: Uint8Array): Uint8Array | null
}

export interface SigningKeys {
  /** Creates and checks tags. */
  current: Uint8Array
  /** Check tags of processes whose current key is another one, while the key is rotated. */
  others: readonly Uint8Array[]
}

const NONCE_BYTES = 12
const MAC_BYTES = 16
/** Length of nonce and tag before an entry's bytes. windows.lua has the same number. */
export const SIGNATURE_BYTES = NONCE_BYTES + MAC_BYTES
const ALGORITHM = 'aes-256-gcm'
const KEY_BYTES = 32
const PURPOSE = 'entries of the fast store'
/** Nonces drawn at once: a single draw costs as much as a tag. */
const NONCES_A_DRAW = 256

/** With `installationId`, a tag of one installation is wrong in another, even with the same key. */
export function createEntrySigner({ current, others }: SigningKeys, installationId: string): EntrySigner {
  const [key, ...otherKeys] = [current, ...others].map(secret => deriveKey(secret, installationId))
  if (!key) throw new Error('Tags need a key')
  const drawNonce = createNonces()

  return {
    sign(name, bytes) {
      const nonce = drawNonce()
      return Buffer.concat([nonce, computeMac(key, nonce, name, bytes), bytes])
    },
    verify(name, tagged) {
      if (tagged.length < SIGNATURE_BYTES) return null
      const nonce = tagged.subarray(0, NONCE_BYTES)
      const mac = tagged.subarray(NONCE_BYTES, SIGNATURE_BYTES)
      const bytes = tagged.subarray(SIGNATURE_BYTES)
      const isRight = (with_: Uint8Array) => timingSafeEqual(mac, computeMac(with_, nonce, name, bytes))
      return isRight(key) || otherKeys.some(isRight) ? bytes : null
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

/** Entries whose tags were right are remembered, up to so many bytes: the same bytes under the same name are not checked again. */
const KNOWN_BYTES = 16 * 1_048_576
/** What an entry takes beside its bytes and its name. */
const BYTES_A_KNOWN = 1_500
/** Larger entries are checked each time, at several GB/s. */
const LARGEST_KNOWN_BYTES = 65_536

export interface SignedEntries {
  /** Returns a name's stored bytes without tags; null when a tag is wrong. */
  verifyEntry(name: string, stored: Uint8Array | null): Uint8Array | null
  /** Returns the message with a tag that is valid for this name only. */
  signMessage(name: string, message: Uint8Array): Uint8Array
  /** Returns the message without its valid tag; null when the tag is wrong. */
  verifyMessage(name: string, tagged: Uint8Array): Uint8Array | null
}

export interface SignedStoreOptions {
  signer: EntrySigner
  /** Called for each entry and message with a wrong tag. */
  onInvalidSignature(name: string): void
}

export function createSignedStore(
  store: FastStore,
  { signer, onInvalidSignature }: SignedStoreOptions,
): FastStore & SignedEntries {
  const known = createKnownEntries()
  let wrong = 0

  function note(name: string): void {
    wrong++
    onInvalidSignature(name)
  }

  function check(name: string, stored: Uint8Array): Uint8Array | null {
    const opened = openTagged(signer, name, stored)
    if (!('wrong' in opened)) return opened.bytes
    note(opened.wrong)
    store.deleteEntry(opened.wrong).catch(() => {})
    return null
  }

  function open(name: string, stored: Uint8Array | null): Uint8Array | null {
    return stored && check(name, stored)
  }

  /** Remembers exact entries, because popular ones are read again and again. */
  function openExact(name: string, stored: Uint8Array | null): Uint8Array | null {
    if (!stored) return null
    return known.find(name, stored) ?? known.open(name, stored, bytes => check(name, bytes))
  }

  return {
    ...store,
    verifyEntry: open,
    invalidSignatures: () => wrong,
    signMessage: (name, message) => signer.sign(name, message),
    verifyMessage(name, tagged) {
      const message = signer.verify(name, tagged)
      if (!message) note(name)
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

/** `wrong` is the name under which the entry is stored. */
type Opened = { bytes: Uint8Array | null } | { wrong: string }

/** An alias is followed by the entry that it names, each with a tag; without that entry the alias leads nowhere. */
function openTagged(tags: EntrySigner, name: string, stored: Uint8Array): Opened {
  const target = readAliasTarget(stored, SIGNATURE_BYTES)
  if (target === null) {
    const bytes = tags.verify(name, stored)
    return bytes ? { bytes } : { wrong: name }
  }
  const end = stored.indexOf(LINE_FEED, SIGNATURE_BYTES) + 1
  const alias = tags.verify(name, stored.subarray(0, end))
  if (!alias) return { wrong: name }
  if (end === stored.length) return { bytes: null }
  if (!tags.verify(target, stored.subarray(end))) return { wrong: target }
  // The alias moves next to the entry's bytes, which may be many and need no copy then.
  const start = end + SIGNATURE_BYTES - alias.length
  stored.copyWithin(start, SIGNATURE_BYTES, end)
  return { bytes: stored.subarray(start) }
}

interface KnownEntry {
  stored: Buffer
  opened: Uint8Array
}

function createKnownEntries() {
  const known = new LRUCache<string, KnownEntry>({
    maxSize: KNOWN_BYTES,
    sizeCalculation: ({ stored, opened }, name) => BYTES_A_KNOWN + name.length + stored.length + opened.length,
  })

  return {
    /** Returns the opened entry for a name's stored bytes; undefined unless they are the bytes that were last valid. */
    find(name: string, stored: Uint8Array): Uint8Array | undefined {
      const entry = known.get(name)
      return entry?.stored.equals(stored) ? entry.opened : undefined
    },
    /** Checks the bytes with `open`, which may overwrite its input, and remembers the result. */
    open(name: string, stored: Uint8Array, open: (stored: Uint8Array) => Uint8Array | null): Uint8Array | null {
      if (stored.length > LARGEST_KNOWN_BYTES) return open(stored)
      // Copies, because a store's bytes are a view of a larger buffer.
      const own = Buffer.from(stored)
      const opened = open(stored)
      if (opened) known.set(name, { stored: own, opened: Buffer.from(opened) })
      return opened
    },
  }
}
