/** Entries whose tags were right when they were last read: the same bytes under the same name need not be checked again. */
import { LRUCache } from 'lru-cache'

const MOST_BYTES = 32 * 1_048_576
/** What is larger is checked each time, at several GB/s. */
const LARGEST_BYTES = 65_536

export interface KnownEntries {
  /** What the bytes that a store gave for a name were opened to; undefined where they are not those that were last right. */
  find(name: string, stored: Uint8Array): Uint8Array | undefined
  /** Checks them by `open`, which may write over what it is given, and remembers what came of it. */
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
      // Copies: what a store gives lies in a buffer that holds much else.
      const own = Buffer.from(stored)
      const opened = open(stored)
      if (opened) known.set(name, { stored: own, opened: Buffer.from(opened) })
      return opened
    },
  }
}
