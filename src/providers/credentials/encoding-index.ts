/** Tests whether bytes contain one of several encodings. It reads only a few bytes in each stretch as long as the shortest encoding. */

/** The number of bytes that are read in each stretch. */
const GROUP_BYTES = 4
/** The number of hash slots. It is large enough that few other groups share a slot with a group of an encoding. */
const SLOTS = 65_536

export interface EncodingIndex {
  /** Returns whether the bytes contain an encoding without escapes. */
  occursIn(bytes: Uint8Array): boolean
}

/** A position of a group in the encodings. */
interface Occurrence {
  encoding: Uint8Array
  offset: number
}

/** Each encoding must have at least four bytes. */
export function indexEncodings(encodings: readonly Uint8Array[]): EncodingIndex {
  if (encodings.length === 0) return { occursIn: () => false }
  const isUsed = new Uint8Array(SLOTS / 8)
  const occurrences = new Map<number, Occurrence[]>()
  for (const encoding of encodings) {
    for (let offset = 0; offset + GROUP_BYTES <= encoding.length; offset++) {
      const group = groupAt(encoding, offset)
      const slot = slotOf(group)
      isUsed[slot >> 3] = (isUsed[slot >> 3] as number) | (1 << (slot & 7))
      occurrences.set(group, [...(occurrences.get(group) ?? []), { encoding, offset }])
    }
  }
  // Wherever an encoding occurs, one of its groups is at a multiple of this step.
  const step = Math.min(...encodings.map(({ length }) => length)) - GROUP_BYTES + 1
  return {
    occursIn(bytes) {
      for (let at = 0; at + GROUP_BYTES <= bytes.length; at += step) {
        const group = groupAt(bytes, at)
        const slot = slotOf(group)
        if (((isUsed[slot >> 3] as number) & (1 << (slot & 7))) === 0) continue
        if (occurrences.get(group)?.some(({ encoding, offset }) => matchesAt(bytes, at - offset, encoding))) return true
      }
      return false
    },
  }
}

function groupAt(bytes: Uint8Array, at: number): number {
  const high = ((bytes[at] as number) << 8) | (bytes[at + 1] as number)
  return (high << 16) | ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number)
}

const slotOf = (group: number) => Math.imul(group, 0x9e3779b1) >>> 16

function matchesAt(bytes: Uint8Array, start: number, encoding: Uint8Array): boolean {
  if (start < 0 || start + encoding.length > bytes.length) return false
  for (let at = 0; at < encoding.length; at++) if (bytes[start + at] !== encoding[at]) return false
  return true
}
