/** Limits the bytes of request bodies that a process holds at once; beyond that, further bodies are refused unread. */
import { refuse } from '../errors.ts'

/** How many bodies of the largest size fit in memory together. */
const LARGEST_BODIES = 8

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
