/** Remembers entries whose tags were right: the same bytes under the same name are not checked again. */
import { LRUCache } from 'lru-cache'

const MOST_BYTES = 32 * 1_048_576
/** Larger entries are checked each time, at several GB/s. */
const LARGEST_BYTES = 65_536

export interface KnownEntries {
  /** Returns the opened entry for a name's stored bytes; undefined unless they are the bytes that were last valid. */
  find(name: string, stored: Uint8Array): Uint8Array | undefined
  /** Checks the bytes with `open`, which may overwrite its input, and remembers the result. */
  open(name: string, stored: Uint8Array, open: (stored: Uint8Array) => Uint8Array | null): Uint8Array | null
}

interface KnownEntry {
  stored: Buffer
  opened: Uint8Array
}

export function createKnownEntries(): KnownEntries {
  const known = new LRUCache<string, KnownEntry>({
    maxSize: MOST_BYTES,
    sizeCalculation: ({ stored, opened }, name) => name.length + stored.length + opened.length,
  })

  return {
    find(name, stored) {
      const entry = known.get(name)
      return entry?.stored.equals(stored) ? entry.opened : undefined
    },
    open(name, stored, open) {
      if (stored.length > LARGEST_BYTES) return open(stored)
      // Copies, because a store's bytes are a view of a larger buffer.
      const own = Buffer.from(stored)
      const opened = open(stored)
      if (opened) known.set(name, { stored: own, opened: Buffer.from(opened) })
      return opened
    },
  }
}
