/** Limits the memory that request bodies take in a process, parsed or not; beyond that, further bodies are refused unread. */
import { refuse } from '../errors.ts'

/** How many bodies of the largest size fit in memory together, or a third as many that are parsed. */
const LARGEST_BODIES = 12

export interface BodyRoom {
  /** Reserves memory for this many more bytes. Throws a 503 when there is none left. */
  take(bytes: number): void
  giveBack(bytes: number): void
}

export function createBodyRoom(maxBodyBytes: number): BodyRoom {
  const size = LARGEST_BODIES * maxBodyBytes
  let taken = 0
  return {
    take(bytes) {
      if (taken + bytes > size) throw refuse('tooManyLargeBodies')
      taken += bytes
    },
    giveBack(bytes) {
      taken -= bytes
    },
  }
}
