/** How many bytes of request bodies a process holds at once: beyond its room, further ones are put off instead of read. */
import { ProxyError } from '../errors.ts'

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
      if (taken + bytes > size) throw noRoom()
      taken += bytes
    },
    giveBack(bytes) {
      taken -= bytes
    },
  }
}

function noRoom(): ProxyError {
  return new ProxyError({
    status: 503,
    code: 'too_many_large_requests',
    message: 'Too many large requests are being read at once; try again shortly.',
    headers: { 'retry-after': '1', connection: 'close' },
  })
}
