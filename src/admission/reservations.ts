/** Key validation and quota, strict in Postgres and fast through batches: one call answers all that waited for the last one. */

import { refuse } from '../errors.ts'
import { createBatcher } from '../event-loop/batcher.ts'
import type { AdmitReply, AdmitRow } from '../postgres/admit.ts'
import type { Database } from '../postgres/database.ts'
import { type Refund, refundRequests } from '../postgres/refund-requests.ts'
import { type AdmitOnce, createAdmitOnce } from './admit-once.ts'

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

/** `reserved`: whether this very request was. */
export type Reservation = { reserved: true; row: AdmitRow } | { reserved: false; row: AdmitReply }

export interface Reservations {
  /** Validates a key without counting. 503 when the database does not answer in time. */
  validate(keyHash: string): Promise<AdmitReply>
  /** Validates a key and reserves one request of its month. 503 when the database does not answer in time. */
  reserve(keyHash: string): Promise<Reservation>
  /** Gives one reserved request back; tries until the database takes it. */
  refund(row: Pick<AdmitRow, 'project_id' | 'key_type' | 'month'>): void
  /** Resolves when every refund has reached the database, or the time is up. */
  drain(timeLimitMs: number): Promise<void>
}

export function createReservations(database: Database): Reservations {
  const refunds = new Map<string, Refund>()
  let refunding: Promise<void> | null = null
  const admitOnce = createAdmitOnce(database, refund)

  const ask = createBatcher<Ask, Reservation>({
    run: asks => runBatch(admitOnce, asks),
    maxItems: MAX_BATCH,
    timeLimitMs: database.backend === 'embedded' ? EMBEDDED_TIME_LIMIT_MS : TIME_LIMIT_MS,
    timeLimitError: () => refuse('databaseUnavailable'),
    onLateResult: (_, late) => {
      if (late.reserved) refund(late.row)
    },
  })

  function refund(
    { project_id, key_type, month }: Pick<AdmitRow, 'project_id' | 'key_type' | 'month'>,
    requests = 1,
  ): void {
    const name = `${project_id} ${key_type} ${month}`
    const waiting = refunds.get(name)
    if (waiting) waiting.requests += requests
    else refunds.set(name, { projectId: project_id, keyType: key_type, month, requests })
    refunding ??= Promise.resolve().then(sendRefunds)
  }

  /** Each batch until the database has taken it, under one name: what it has taken already, it does not take again. */
  async function sendRefunds(): Promise<void> {
    while (refunds.size > 0) {
      const sending = [...refunds.values()]
      refunds.clear()
      const batch = crypto.randomUUID()
      while (!(await isTaken(sending, batch))) await Bun.sleep(REFUND_RETRY_MS)
    }
    refunding = null
  }

  function isTaken(sending: readonly Refund[], batch: string): Promise<boolean> {
    return refundRequests(database, sending, batch).then(
      () => true,
      () => false,
    )
  }

  return {
    validate: async keyHash => (await ask({ keyHash, reserve: false })).row,
    reserve: keyHash => ask({ keyHash, reserve: true }),
    refund,
    async drain(timeLimitMs) {
      const all = admitOnce.settled().then(() => refunding)
      await Promise.race([all, Bun.sleep(timeLimitMs)])
    },
  }
}

/** Folds the asks of one key into one row of the call, and hands what was granted to them in the order they came. */
async function runBatch(admitOnce: AdmitOnce, asks: readonly Ask[]): Promise<Reservation[]> {
  const wanted = new Map<string, number>()
  for (const { keyHash, reserve } of asks) wanted.set(keyHash, (wanted.get(keyHash) ?? 0) + (reserve ? 1 : 0))
  const keyHashes = [...wanted.keys()]
  const rows = await admitOnce
    .admit(keyHashes.map(keyHash => ({ keyHash, wanted: wanted.get(keyHash) ?? 0 })))
    .catch(error => {
      throw refuse('databaseUnavailable', null, error)
    })
  const byKey = new Map(rows.map((row, i) => [keyHashes[i], { row, left: row.granted }]))
  return asks.map(({ keyHash, reserve }) => {
    const found = byKey.get(keyHash)
    if (!found) throw refuse('databaseUnavailable', null, 'admit() left out a key')
    const { row } = found
    if (row.verdict === 'unknown' || !reserve || found.left === 0) return { row, reserved: false }
    found.left--
    return { row, reserved: true }
  })
}
