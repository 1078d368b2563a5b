/** Key validation and quota, strict in Postgres and fast through batches: one call answers all that waited for the last one. */
import { type Account, admit } from '../postgres/admit.ts'
import type { Database } from '../postgres/database.ts'
import { type Refund, refundRequests } from '../postgres/refund-requests.ts'
import { createBatcher } from './batcher.ts'
import { databaseUnavailable } from './refusals.ts'

/** A client is told within a second that the database is gone; this leaves the rest of the second to everything else. */
const TIME_LIMIT_MS = 850
/** The embedded database does one thing at a time: a burst is answered late rather than refused. */
const EMBEDDED_TIME_LIMIT_MS = 30_000
const MAX_BATCH = 1_000
const REFUND_RETRY_MS = 250

interface Ask {
  keyHash: string
  reserve: boolean
}

export interface Reservation {
  row: Account
  /** Whether this very request was reserved. */
  reserved: boolean
}

export interface Reservations {
  /** Validates a key without counting. 503 when the database does not answer in time. */
  validate(keyHash: string): Promise<Account>
  /** Validates a key and reserves one request of its month. 503 when the database does not answer in time. */
  reserve(keyHash: string): Promise<Reservation>
  /** Gives one reserved request back; tries until the database takes it. */
  refund(row: Pick<Account, 'project_id' | 'key_type' | 'month'>): void
  /** Resolves when every refund has reached the database, or the time is up. */
  drain(timeLimitMs: number): Promise<void>
}

export function createReservations(database: Database): Reservations {
  const refunds = new Map<string, Refund>()
  let refunding: Promise<void> | null = null

  const ask = createBatcher<Ask, Reservation>({
    run: asks => runBatch(database, asks),
    maxItems: MAX_BATCH,
    timeLimitMs: database.footing === 'embedded' ? EMBEDDED_TIME_LIMIT_MS : TIME_LIMIT_MS,
    timeLimitError: databaseUnavailable,
    onLateResult: (_, late) => {
      if (late.reserved) refund(late.row)
    },
  })

  function refund({ project_id, key_type, month }: Pick<Account, 'project_id' | 'key_type' | 'month'>): void {
    const name = `${project_id} ${key_type} ${month}`
    const waiting = refunds.get(name)
    if (waiting) waiting.requests++
    else refunds.set(name, { projectId: project_id, keyType: key_type, month, requests: 1 })
    refunding ??= Promise.resolve().then(sendRefunds)
  }

  async function sendRefunds(): Promise<void> {
    while (refunds.size > 0) {
      const sending = [...refunds.values()]
      refunds.clear()
      try {
        await refundRequests(database, sending)
      } catch {
        for (const unsent of sending) {
          const name = `${unsent.projectId} ${unsent.keyType} ${unsent.month}`
          const newer = refunds.get(name)
          refunds.set(name, { ...unsent, requests: unsent.requests + (newer?.requests ?? 0) })
        }
        await Bun.sleep(REFUND_RETRY_MS)
      }
    }
    refunding = null
  }

  return {
    validate: async keyHash => (await ask({ keyHash, reserve: false })).row,
    reserve: keyHash => ask({ keyHash, reserve: true }),
    refund,
    async drain(timeLimitMs) {
      await Promise.race([refunding, Bun.sleep(timeLimitMs)])
    },
  }
}

/** Folds the asks of one key into one row of the call, and hands what was granted to them in the order they came. */
async function runBatch(database: Database, asks: readonly Ask[]): Promise<Reservation[]> {
  const wanted = new Map<string, number>()
  for (const { keyHash, reserve } of asks) wanted.set(keyHash, (wanted.get(keyHash) ?? 0) + (reserve ? 1 : 0))
  const keyHashes = [...wanted.keys()]
  const rows = await admit(
    database,
    keyHashes.map(keyHash => ({ keyHash, wanted: wanted.get(keyHash) ?? 0 })),
  ).catch(error => {
    throw databaseUnavailable(error)
  })
  const byKey = new Map(rows.map((row, i) => [keyHashes[i], { row, left: row.granted }]))
  return asks.map(({ keyHash, reserve }) => {
    const found = byKey.get(keyHash)
    if (!found) throw databaseUnavailable('admit() left out a key')
    const reserved = reserve && found.left > 0
    if (reserved) found.left--
    return { row: found.row, reserved }
  })
}
