/** How many bytes of request bodies a process holds at once: beyond its room, further ones are put off instead of read. */
import { refuse } from '../errors.ts'

/** Largest bodies that may be in memory together. */
const LARGEST_BODIES = 8

export interface BodyRoom {
  /** Takes room for so many bytes more. Throws a 503 where there is none. */
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
