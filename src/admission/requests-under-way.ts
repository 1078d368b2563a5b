/** Limits each key's concurrent requests in this process, so that one key's slow requests leave room for other keys. */
import { refuse } from '../errors.ts'
import type { Account } from '../postgres/admit.ts'

export interface RequestsUnderWay {
  /** Throws a 429 when the key has as many requests in flight as its plan allows. Call the returned function when the request is over. */
  enter(account: Pick<Account, 'key_id' | 'concurrent_requests'>): () => void
}

export function createRequestsUnderWay(): RequestsUnderWay {
  const counts = new Map<number, number>()

  return {
    enter({ key_id, concurrent_requests }) {
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
