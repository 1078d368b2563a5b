/**
 * Validates keys and reserves quota: strict in PostgreSQL, and fast through batches. Calls that arrive while one is in flight share the
 * next.
 */
import { LRUCache } from 'lru-cache'
import { refuse } from '../errors.ts'
import { createBatcher } from '../event-loop/batcher.ts'
import { startTimeLimit } from '../event-loop/time-limit.ts'
import type { Account, UnknownKey } from '../postgres/admit.ts'
import { type Database, isLockedOut } from '../postgres/database.ts'
import { findLockedCounters } from '../postgres/find-locked-counters.ts'
import { type AdmitOnce, createAdmitOnce } from './admit-once.ts'
import { createDeployWatch } from './deploys.ts'
import type { RateWindows } from './rate-windows.ts'
import { type RefundedAccount, Refunds } from './refunds.ts'

/** A client must learn within a second that the database is gone; the rest of that second is for everything else. */
const TIME_LIMIT_MS = 850
/** The embedded database runs one call at a time: a burst is answered late rather than refused. */
const EMBEDDED_TIME_LIMIT_MS = 30_000
const MAX_BATCH = 1_000
/** After a key's counter was found locked, the key's requests use a queue of their own for this long. */
const REMEMBER_LOCKED_MS = 2_000
const MAX_LOCKED = 10_000

/** Requests wait this long for a deploy that locks the tables; then they fail. */
const DEPLOY_LIMIT_MS = 15_000
const AFTER_DEPLOY_MS = 50

interface Ask {
  keyHash: string
  reserve: boolean
}

/** Another transaction holds a lock on the project's counter. */
const LOCKED = Symbol('locked')
type Locked = typeof LOCKED

/** `reserved` tells whether this particular request was. */
export type Reservation = { reserved: true; account: Account } | { reserved: false; account: Account | UnknownKey }

export interface Reservations {
  /** Validates a key without counting. Throws 503 when the database does not answer in time. */
  validate(keyHash: string): Promise<Account | UnknownKey>
  /** Validates a key and reserves one request of its month. Throws 503 when the database does not answer in time. */
  reserve(keyHash: string): Promise<Reservation>
  /** Gives reserved requests back, one by default; retries until the database has taken them. */
  refund(account: RefundedAccount, requests?: number): void
  /** Resolves when every refund has reached the database, or the time is up. */
  drain(timeLimitMs: number): Promise<void>
}

/** `windows`: requests that are being counted there will be reserved here next. */
export function createReservations(database: Database, windows: Pick<RateWindows, 'underWay'>): Reservations {
  const refunds = new Refunds(database)
  const admitOnce = createAdmitOnce(database, (account, requests) => refunds.add(account, requests))
  const timeLimitMs = database.backend === 'embedded' ? EMBEDDED_TIME_LIMIT_MS : TIME_LIMIT_MS
  const deploys = createDeployWatch(database)
  const openLane = () =>
    createBatcher<Ask, Reservation | Locked>({
      run: asks => aheadOfLimit(deploys.askAhead, runUnlocked(database, admitOnce, asks)),
      maxItems: MAX_BATCH,
      timeLimitMs,
      timeLimitError: () => refuse('databaseUnavailable'),
      comesNext: windows.underWay,
      onLateResult: (_, late) => {
        if (late !== LOCKED && late.reserved) refunds.add(late.account, 1)
      },
    })
  const askWithAll = openLane()
  /** A separate queue for keys with locked counters, so that they delay no other key. */
  const askApart = openLane()
  const lockedLately = new LRUCache<string, true>({ max: MAX_LOCKED, ttl: REMEMBER_LOCKED_MS })

  /** Waits while a deploy locks the tables. */
  async function ask(asked: Ask): Promise<Reservation> {
    const deadlineMs = performance.now() + DEPLOY_LIMIT_MS
    for (;;) {
      const startedAtMs = performance.now()
      try {
        return await askNow(asked)
      } catch (error) {
        if (performance.now() > deadlineMs || !(await deploys.isOn(startedAtMs))) throw error
        await Bun.sleep(AFTER_DEPLOY_MS)
      }
    }
  }

  async function askNow(asked: Ask): Promise<Reservation> {
    const deadlineMs = performance.now() + timeLimitMs
    const { keyHash } = asked
    let reply = lockedLately.has(keyHash) ? LOCKED : await askWithAll(asked)
    while (reply === LOCKED) {
      if (performance.now() > deadlineMs) throw refuse('databaseUnavailable')
      lockedLately.set(keyHash, true)
      reply = await askApart(asked)
    }
    if (lockedLately.size > 0) lockedLately.delete(keyHash)
    return reply
  }

  return {
    validate: async keyHash => (await ask({ keyHash, reserve: false })).account,
    reserve: keyHash => ask({ keyHash, reserve: true }),
    refund: (account, requests = 1) => refunds.add(account, requests),
    async drain(timeLimitMs) {
      const all = admitOnce.settled().then(() => refunds.settled())
      await Promise.race([all, Bun.sleep(timeLimitMs)])
    },
  }
}

/** Calls `onHalf` when half of the batch's time limit has passed and it is still in flight. */
function aheadOfLimit<Replies>(onHalf: () => void, batch: Promise<Replies>): Promise<Replies> {
  const endHalf = startTimeLimit(TIME_LIMIT_MS / 2, onHalf)
  return batch.finally(endHalf)
}

/** As `runBatch`, but asks with a locked counter get LOCKED, so that no other ask waits for the lock. */
async function runUnlocked(
  database: Database,
  admitOnce: AdmitOnce,
  asks: readonly Ask[],
): Promise<(Reservation | Locked)[]> {
  try {
    return await runBatch(admitOnce, asks)
  } catch (error) {
    if (!isLockedOut(causeOf(error))) throw error
  }
  const keyHashes = [...new Set(asks.map(({ keyHash }) => keyHash))]
  const locked = await findLockedCounters(database, keyHashes).catch(cause => {
    throw refuse('databaseUnavailable', null, cause)
  })
  const free = asks.filter(({ keyHash }) => !locked.has(keyHash))
  const replies = free.length > 0 ? await runBehindDeploy(admitOnce, free) : []
  let next = 0
  return asks.map(({ keyHash }) => (locked.has(keyHash) ? LOCKED : (replies[next++] ?? LOCKED)))
}

/** As `runBatch`. If no counter is locked, a deploy locks the tables for a moment: it is retried until that is over. */
async function runBehindDeploy(admitOnce: AdmitOnce, asks: readonly Ask[]): Promise<Reservation[]> {
  const deadlineMs = performance.now() + TIME_LIMIT_MS
  for (;;) {
    try {
      return await runBatch(admitOnce, asks)
    } catch (error) {
      if (!isLockedOut(causeOf(error)) || performance.now() > deadlineMs) throw error
    }
  }
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined
}

/** Merges the asks of one key into one row of the call, and hands its grants out in order of arrival. */
async function runBatch(admitOnce: AdmitOnce, asks: readonly Ask[]): Promise<Reservation[]> {
  const wanted = new Map<string, number>()
  for (const { keyHash, reserve } of asks) wanted.set(keyHash, (wanted.get(keyHash) ?? 0) + (reserve ? 1 : 0))
  const keyHashes = [...wanted.keys()]
  const replies = await admitOnce
    .admit(keyHashes.map(keyHash => ({ keyHash, wanted: wanted.get(keyHash) ?? 0 })))
    .catch(error => {
      throw refuse('databaseUnavailable', null, error)
    })
  const byKey = new Map(replies.map(({ account, granted }, i) => [keyHashes[i], { account, left: granted }]))
  return asks.map(({ keyHash, reserve }) => {
    const found = byKey.get(keyHash)
    if (!found) throw refuse('databaseUnavailable', null, 'admit() left out a key')
    const { account } = found
    if (account.verdict === 'unknown' || !reserve || found.left === 0) return { account, reserved: false }
    found.left--
    return { account, reserved: true }
  })
}
