/** How many requests of each key are under way in this process: one key's slow requests leave room for the others'. */
import { refuse } from '../errors.ts'
import type { Account } from '../postgres/admit.ts'

export interface RequestsUnderWay {
  /** Throws a 429 where the key has as many as its plan allows. The returned function is to be called when the request is over. */
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
