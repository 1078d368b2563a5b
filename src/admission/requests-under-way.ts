/** The requests that this process works on: how many of each key, and whether several are being counted at a time. */
import { refuse } from '../errors.ts'
import type { Account } from '../postgres/admit.ts'

/** Limits each key's concurrent requests in this process, so that one key's slow requests leave room for other keys. */
export function createRequestsUnderWay() {
  const counts = new Map<number, number>()

  return {
    /** Throws a 429 when the key has as many requests in flight as its plan allows. Call the returned function when the request is over. */
    enter({ key_id, concurrent_requests }: Account): () => void {
      const others = counts.get(key_id) ?? 0
      if (others >= concurrent_requests) throw refuse('tooManyAtOnce', { limit: concurrent_requests })
      counts.set(key_id, others + 1)
      let isOver = false
      return () => {
        if (isOver) return
        isOver = true
        const left = (counts.get(key_id) ?? 1) - 1
        if (left > 0) counts.set(key_id, left)
        else counts.delete(key_id)
      }
    },
  }
}

/** After two requests were counted at the same time, others are expected for so long. */
const CROWDED_MS = 20

/** Tells whether several requests come at a time: then they are counted together. */
export function createCrowd() {
  let present = 0
  let lastMs = -Infinity
  return {
    enter(): void {
      if (++present > 1) lastMs = performance.now()
    },
    leave(): void {
      present--
    },
    isNear: () => present > 1 || performance.now() - lastMs < CROWDED_MS,
  }
}
