/** Reserves many requests of a key's month at once, or none: a batch counts as many requests as it holds. */
import { refuse } from '../errors.ts'
import { withinTimeLimit } from '../event-loop/time-limit.ts'
import { admit } from '../postgres/admit.ts'
import type { Database } from '../postgres/database.ts'
import type { Reservations } from './reservations.ts'

const TIME_LIMIT_MS = 5_000

export interface RequestReserver {
  /**
   * Resolves to a function that gives them back. Throws 429 with nothing counted when the month has too few left, and 503 when the
   * database does not answer.
   */
  reserve(keyHash: string, requests: number): Promise<() => void>
}

export function createRequestReserver(database: Database, reservations: Pick<Reservations, 'refund'>): RequestReserver {
  return {
    async reserve(keyHash, requests) {
      if (requests === 0) return () => {}
      const asked = withinTimeLimit(TIME_LIMIT_MS, admit(database, [{ keyHash, wanted: requests }]))
      const [reply] = await asked.catch(error => {
        throw refuse('databaseUnavailable', null, error)
      })
      if (!reply || reply.account.verdict === 'unknown')
        throw refuse('databaseUnavailable', null, 'admit() left out a key')
      const { account, granted } = reply
      if (granted === requests) return () => reservations.refund(account, requests)
      if (granted > 0) reservations.refund(account, granted)
      throw refuse('monthlyQuotaExceeded')
    },
  }
}
