/** Key validation and quota, strict in Postgres and fast through batches: one call answers all that waited for the last one. */
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

/** A client is told within a second that the database is gone; this leaves the rest of the second to everything else. */
const TIME_LIMIT_MS = 850
/** The embedded database does one thing at a time: a burst is answered late rather than refused. */
const EMBEDDED_TIME_LIMIT_MS = 30_000
const MAX_BATCH = 1_000
/** Requests of a key whose counter was held ask apart for so long. */
const REMEMBER_LOCKED_MS = 2_000
const MAX_LOCKED = 10_000

/** A deploy that holds the tables for longer is told to clients. */
const DEPLOY_LIMIT_MS = 15_000
const AFTER_DEPLOY_MS = 50

interface Ask {
  keyHash: string
  reserve: boolean
}

/** The project's counter is held by somebody. */
const LOCKED = Symbol('locked')
type Locked = typeof LOCKED

/** `reserved`: whether this very request was. */
export type Reservation = { reserved: true; account: Account } | { reserved: false; account: Account | UnknownKey }

export interface Reservations {
  /** Validates a key without counting. 503 when the database does not answer in time. */
  validate(keyHash: string): Promise<Account | UnknownKey>
  /** Validates a key and reserves one request of its month. 503 when the database does not answer in time. */
  reserve(keyHash: string): Promise<Reservation>
  /** Gives one reserved request back, or several; tries until the database takes it. */
  refund(account: RefundedAccount, requests?: number): void
  /** Resolves when every refund has reached the database, or the time is up. */
  drain(timeLimitMs: number): Promise<void>
}

/** `windows`: the requests that are being counted there come here next. */
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
  /** For keys whose counters are held by somebody: they wait among themselves. */
  const askApart = openLane()
  const lockedLately = new LRUCache<string, true>({ max: MAX_LOCKED, ttl: REMEMBER_LOCKED_MS })

  /** While a deploy holds the tables, it is waited for. */
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

/** Calls back where the batch is still under way when half of its time has passed. */
function aheadOfLimit<Replies>(onHalf: () => void, batch: Promise<Replies>): Promise<Replies> {
  const endHalf = startTimeLimit(TIME_LIMIT_MS / 2, onHalf)
  return batch.finally(endHalf)
}

/** As `runBatch`; whose counter is held by somebody for longer is told so, and nobody else waits for it. */
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

/** As `runBatch`; where nobody holds a counter, a deploy holds the tables for a moment, which is waited for. */
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

/** Folds the asks of one key into one row of the call, and hands what was granted to them in the order they came. */
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
