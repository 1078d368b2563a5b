/** Entries in this process's memory: up to so many bytes, the least recently used go first. */
import { LRUCache } from 'lru-cache'

interface Entry {
  bytes: Uint8Array
  expiresAtMs: number
}

export class EntryMemory {
  readonly #entries: LRUCache<string, Entry>

  constructor(maxBytes: number) {
    this.#entries = new LRUCache({ maxSize: maxBytes, sizeCalculation: ({ bytes }) => Math.max(1, bytes.byteLength) })
  }

  read(name: string, nowMs: number): Uint8Array | null {
    const entry = this.#entries.get(name)
    if (!entry) return null
    if (entry.expiresAtMs > nowMs) return entry.bytes
    this.#entries.delete(name)
    return null
  }

  /** As in windows.lua: an alias is given with the entry that it names. */
  readNamed(name: string, nowMs: number): Uint8Array | null {
    const stored = this.read(name, nowMs)
    const target = stored && aliasTarget(stored)
    if (!target) return stored
    const entry = this.read(target, nowMs)
    return entry && Buffer.concat([stored, entry])
  }

  write(name: string, bytes: Uint8Array, expiresAtMs: number): void {
    this.#entries.set(name, { bytes, expiresAtMs })
  }

  delete(name: string): void {
    this.#entries.delete(name)
  }
}

const ALIAS = Buffer.from('[2,"')

function aliasTarget(bytes: Uint8Array): string | null {
  const stored = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (!stored.subarray(0, ALIAS.length).equals(ALIAS)) return null
  return stored.toString('latin1', ALIAS.length, stored.indexOf('"', ALIAS.length))
}
