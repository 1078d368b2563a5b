/**
 * Long values as one or two keys, whichever takes Redis less memory.
 *
 * Redis' allocator (jemalloc) has room of certain sizes alone, four between one power of two and the next: a value a little longer
 * than one of them takes as much as the next, up to a quarter more. Cut where such a size ends, its rest takes hardly more than it
 * is long. A vector of 1,536 dimensions takes a twelfth less so, its second key included.
 */

/** What a string of Redis needs besides its bytes: length, capacity, flags and a closing zero. */
const STRING_OVERHEAD_BYTES = 6
/** Names of about 75 bytes, their entries in the tables of keys and of expiries, the value's head. */
const KEY_OVERHEAD_BYTES = 184
/** Two keys are to be worth their trouble. */
const LEAST_GAIN_BYTES = 128
const SMALLEST_CUT_BYTES = 1_024

/** Whole, or the first of two parts; then a tag that both have in common follows. */
const WHOLE = 0
const CUT = 1
const TAG_BYTES = 4
const HEAD_OVERHEAD_BYTES = 1 + TAG_BYTES

export interface CutValue {
  head: Buffer
  rest: Buffer | null
}

export function nameRest(name: string): string {
  return `${name}+`
}

export function cutValue(bytes: Uint8Array): CutValue {
  const headBytes = findCut(bytes.length)
  if (headBytes === null) return { head: Buffer.concat([Uint8Array.of(WHOLE), bytes]), rest: null }
  // The two are written one after the other: parts of different writings must not be taken for one value.
  const tag = crypto.getRandomValues(new Uint8Array(TAG_BYTES))
  return {
    head: Buffer.concat([Uint8Array.of(CUT), tag, bytes.subarray(0, headBytes)]),
    rest: Buffer.concat([tag, bytes.subarray(headBytes)]),
  }
}

/** Null where a part is missing, or belongs to another writing. */
export function joinValue(head: Buffer | null, rest: Buffer | null): Uint8Array | null {
  if (head === null || head.length === 0) return null
  if (head[0] === WHOLE) return head.subarray(1)
  if (head[0] !== CUT || rest === null || rest.length < TAG_BYTES) return null
  if (!head.subarray(1, HEAD_OVERHEAD_BYTES).equals(rest.subarray(0, TAG_BYTES))) return null
  return Buffer.concat([head.subarray(HEAD_OVERHEAD_BYTES), rest.subarray(TAG_BYTES)])
}

/** How many bytes the head is to have; null where the value takes less memory uncut. */
function findCut(length: number): number | null {
  let best: number | null = null
  let least = allocated(length + 1) - LEAST_GAIN_BYTES
  for (let room = roomFor(length); room >= SMALLEST_CUT_BYTES; room = roomBelow(room)) {
    const headBytes = room - STRING_OVERHEAD_BYTES - HEAD_OVERHEAD_BYTES
    if (headBytes >= length) continue
    const together = room + KEY_OVERHEAD_BYTES + allocated(TAG_BYTES + length - headBytes)
    if (together >= least) continue
    least = together
    best = headBytes
  }
  return best
}

function allocated(bytes: number): number {
  return roomFor(bytes + STRING_OVERHEAD_BYTES)
}

/** The smallest of the allocator's sizes that so many bytes fit in: 4, 5, 6, 7 or 8 times a power of two. */
function roomFor(bytes: number): number {
  const step = 2 ** Math.max(4, Math.floor(Math.log2(Math.max(1, bytes - 1))) - 2)
  return Math.ceil(bytes / step) * step
}

function roomBelow(room: number): number {
  const step = 2 ** Math.max(4, Math.ceil(Math.log2(room)) - 3)
  return room - step
}
