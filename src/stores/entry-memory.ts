/** Entries in this process's memory, up to a number of bytes; the least recently used are evicted first. */
import { LRUCache } from 'lru-cache'
import { TAG_BYTES } from './entry-tags.ts'
import { aliasTarget } from './fast-store.ts'

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

  /** As in windows.lua: an alias is returned with the entry that it names. */
  readNamed(name: string, nowMs: number): Uint8Array | null {
    const stored = this.read(name, nowMs)
    const target = stored && (aliasTarget(stored, 0) ?? aliasTarget(stored, TAG_BYTES))
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
