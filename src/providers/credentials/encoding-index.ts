/** Finds out whether one of some spellings stands in bytes, by a look at a few bytes in each stretch as long as the shortest of them. */

/** Of those that are looked at in each stretch. */
const GROUP_BYTES = 4
/** Few groups of other bytes share a place with one of a spelling. */
const PLACES = 65_536

export interface EncodingIndex {
  /** Whether one of them stands there as it is, without escapes. */
  occursIn(bytes: Uint8Array): boolean
}

/** Where a group stands in the spellings. */
interface Occurrence {
  spelling: Uint8Array
  offset: number
}

/** Each has at least four bytes. */
export function indexEncodings(spellings: readonly Uint8Array[]): EncodingIndex {
  if (spellings.length === 0) return { occursIn: () => false }
  const isTaken = new Uint8Array(PLACES / 8)
  const occurrences = new Map<number, Occurrence[]>()
  for (const spelling of spellings) {
    for (let offset = 0; offset + GROUP_BYTES <= spelling.length; offset++) {
      const group = groupAt(spelling, offset)
      const place = placeOf(group)
      isTaken[place >> 3] = (isTaken[place >> 3] as number) | (1 << (place & 7))
      occurrences.set(group, [...(occurrences.get(group) ?? []), { spelling, offset }])
    }
  }
  // Wherever a spelling stands, one of its groups stands at one of these steps.
  const step = Math.min(...spellings.map(({ length }) => length)) - GROUP_BYTES + 1
  return {
    occursIn(bytes) {
      for (let at = 0; at + GROUP_BYTES <= bytes.length; at += step) {
        const group = groupAt(bytes, at)
        const place = placeOf(group)
        if (((isTaken[place >> 3] as number) & (1 << (place & 7))) === 0) continue
        if (occurrences.get(group)?.some(({ spelling, offset }) => standsAt(bytes, at - offset, spelling))) return true
      }
      return false
    },
  }
}

function groupAt(bytes: Uint8Array, at: number): number {
  const high = ((bytes[at] as number) << 8) | (bytes[at + 1] as number)
  return (high << 16) | ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number)
}

const placeOf = (group: number) => Math.imul(group, 0x9e3779b1) >>> 16

function standsAt(bytes: Uint8Array, start: number, spelling: Uint8Array): boolean {
  if (start < 0 || start + spelling.length > bytes.length) return false
  for (let at = 0; at < spelling.length; at++) if (bytes[start + at] !== spelling[at]) return false
  return true
}
