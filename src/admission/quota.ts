/**
 * The ledger of months: requests are reserved here before they run, strictly in PostgreSQL, and fast because those that arrive while a
 * batch is in flight share the next. However a reservation ends, what is answered is counted, and nothing else stays counted:
 *
 *     asked ─▶ batched ─▶ sent ─┬─ granted ──┬─ the request is answered ──────────────▶ 1 counted
 *       ▲         ▲             │            └─ it fails, or is refused after all ────▶ 2 refunded
 *       │         │             ├─ too few left of the month ─────────────────────────▶ 3 refused: 429
 *       │         │             ├─ no such key, or not active ────────────────────────▶ 4 refused: 401, 403
 *       │         │             ├─ the reply comes after the time limit ──────────────▶ 5 503; refunded when it comes
 *       │         │             ├─ the reply is lost: asked again until it is known ──▶ 6 503; refunded then
 *       │         └─ in a lane ─┼─ its counter is locked, for longer than the limit ──▶ 7 503; nothing was counted
 *       │            of its own │
 *       └─ a deploy is on ──────┴─ the database fails or refuses ─────────────────────▶ 8 503; nothing was counted
 */
import { LRUCache } from 'lru-cache'
import { createError } from '../errors/errors.ts'
import { createBatcher } from '../event-loop/batcher.ts'
import { startTimeout } from '../event-loop/timeouts.ts'
import { findLockedCounters, type ResolvedKey, type UnknownKey } from '../postgres/admit-requests.ts'
import { type Database, isLockTimeout } from '../postgres/database.ts'
import { createDeployMonitor } from '../postgres/deploy-monitor.ts'
import { createQuotaLedger, type MonthlyCounterKey, type QuotaLedger } from './quota-reservations.ts'
import type { RateLimiter } from './rate-limiter.ts'

/** A client must learn within a second that the database is gone; the rest of that second is for everything else. */
const TIME_LIMIT_MS = 850
/** The embedded database runs one call at a time: a burst is answered late rather than refused. */
const EMBEDDED_TIME_LIMIT_MS = 30_000
const MAX_BATCH = 1_000
/** No key has this hash. */
const NO_KEY = '0'.repeat(64)
/** After a key's counter was found locked, the key's requests use a lane of their own for this long. */
const REMEMBER_LOCKED_MS = 2_000
const MAX_LOCKED = 10_000

/** Requests wait this long for a deploy that locks the tables; then they fail. */
const DEPLOY_LIMIT_MS = 15_000
const AFTER_DEPLOY_MS = 50

/** `reserved` tells whether all the requests that were asked for are; else none of them is. */
export type QuotaReservation =
  | { reserved: true; resolvedKey: ResolvedKey }
  | { reserved: false; resolvedKey: ResolvedKey | UnknownKey }

export interface Quota {
  /** Validates a key without counting. Throws 503 when the database does not answer in time. */
  validate(keyHash: string): Promise<ResolvedKey | UnknownKey>
  /** Validates a key and reserves requests of its month, all or none. Throws 503 when the database does not answer in time. */
  reserve(keyHash: string, requests?: number): Promise<QuotaReservation>
  /** Reserves one request without waiting for those that are being counted in windows. */
  reserveImmediately(keyHash: string): Promise<QuotaReservation>
  /** Gives reserved requests back, one by default; retries until the database has taken them. */
  refund(account: MonthlyCounterKey, requests?: number): void
  /** Has the database prepare what requests will ask, so that the first need not wait for that. Never rejects. */
  warm(): Promise<unknown>
  /** Resolves when every lost reply is known and every refund has reached the database. */
  settled(): Promise<void>
}

interface Ask {
  keyHash: string
  /** 0 only validates. */
  requests: number
}

/** Another transaction holds a lock on the project's counter. */
interface Locked {
  /** Where the counter stands; null: not known. */
  lockedAt: number | null
}
type Reply = QuotaReservation | Locked

const isLocked = (reply: Reply): reply is Locked => 'lockedAt' in reply

/** A key that has a batch to itself delays no other, and keeps its place among those who want its counter. */
const PATIENCE_MS = 200
/** As many time limits does a request wait for a counter that moves: others are counted there meanwhile. */
const MOST_LIMITS = 3

/** `windows`: requests that are being counted there will be reserved here next. */
export function createQuota(
  database: Database,
  windows: Pick<RateLimiter, 'inFlight'>,
  timeLimitMs = database.backend === 'embedded' ? EMBEDDED_TIME_LIMIT_MS : TIME_LIMIT_MS,
): Quota {
  const ledger = createQuotaLedger(database)
  const deploys = createDeployMonitor(database)
  const openLane = (comesNext = windows.inFlight, patienceMs?: number) =>
    createBatcher<Ask, Reply>({
      run: asks => aheadOfLimit(deploys.startCheck, runBatch(database, ledger, asks, patienceMs)),
      maxItems: MAX_BATCH,
      timeoutMs: timeLimitMs,
      createTimeoutError: isBusy => createError(isBusy ? 'busy' : 'databaseUnavailable'),
      lastReplyAtMs: database.lastReplyAtMs,
      upcomingItems: comesNext,
      onLateResult: ({ requests }, late) => {
        if (!isLocked(late) && late.reserved) ledger.refund(late.resolvedKey, requests)
      },
    })
  const askWithAll = openLane()
  const askSingle = openLane(() => null)
  /** For keys with locked counters, so that they delay no other key. */
  const askApart = openLane(windows.inFlight, PATIENCE_MS)
  const recentlyLocked = new LRUCache<string, true>({ max: MAX_LOCKED, ttl: REMEMBER_LOCKED_MS })

  /** Waits while a deploy locks the tables. */
  async function ask(asked: Ask, lane = askWithAll): Promise<QuotaReservation> {
    const deadlineMs = performance.now() + DEPLOY_LIMIT_MS
    for (;;) {
      const startedAtMs = performance.now()
      try {
        return await askNow(asked, lane)
      } catch (error) {
        if (performance.now() > deadlineMs || !(await deploys.isDeploying(startedAtMs))) throw error
        await Bun.sleep(AFTER_DEPLOY_MS)
      }
    }
  }

  async function askNow(asked: Ask, lane: typeof askWithAll): Promise<QuotaReservation> {
    const startedAtMs = performance.now()
    const { keyHash } = asked
    let deadlineMs = startedAtMs + timeLimitMs
    let stood: number | null = null
    let reply: Reply = recentlyLocked.has(keyHash) ? { lockedAt: null } : await lane(asked)
    while (isLocked(reply)) {
      const { lockedAt } = reply
      // Nobody holds it: its turn comes.
      if (stood !== null && lockedAt !== stood)
        deadlineMs = Math.min(performance.now(), startedAtMs + (MOST_LIMITS - 1) * timeLimitMs) + timeLimitMs
      stood = lockedAt ?? stood
      if (performance.now() > deadlineMs) throw createError('busy')
      recentlyLocked.set(keyHash, true)
      reply = await askApart(asked)
    }
    if (recentlyLocked.size > 0) recentlyLocked.delete(keyHash)
    return reply
  }

  return {
    validate: async keyHash => (await ask({ keyHash, requests: 0 })).resolvedKey,
    reserve: (keyHash, requests = 1) => ask({ keyHash, requests }),
    reserveImmediately: keyHash => ask({ keyHash, requests: 1 }, askSingle),
    refund: (account, requests = 1) => ledger.refund(account, requests),
    warm: () => ask({ keyHash: NO_KEY, requests: 0 }).catch(() => {}),
    settled: ledger.settled,
  }
}

/** Calls `onHalf` when half of the batch's time limit has passed and it is still in flight. */
function aheadOfLimit<Replies>(onHalf: () => void, batch: Promise<Replies>): Promise<Replies> {
  const endHalf = startTimeout(TIME_LIMIT_MS / 2, onHalf)
  return batch.finally(endHalf)
}

/** Asks with a locked counter are told so, so that no other ask waits for the lock. */
async function runBatch(
  database: Database,
  ledger: QuotaLedger,
  asks: readonly Ask[],
  patienceMs?: number,
): Promise<Reply[]> {
  try {
    return await reserveAll(ledger, asks, patienceMs)
  } catch (error) {
    if (!isLockTimeout(causeOf(error))) throw error
  }
  const locked = await findLockedCounters(database, [...new Set(asks.map(({ keyHash }) => keyHash))]).catch(unavailable)
  const free = asks.filter(({ keyHash }) => !locked.has(keyHash))
  const replies = free.length > 0 ? await reserveBehindDeploy(ledger, free) : []
  let next = 0
  return asks.map(({ keyHash }) => {
    const isFree = !locked.has(keyHash)
    return (isFree && replies[next++]) || { lockedAt: locked.get(keyHash) ?? null }
  })
}

/** As `reserveAll`. If no counter is locked, a deploy locks the tables for a moment: it is retried until that is over. */
async function reserveBehindDeploy(ledger: QuotaLedger, asks: readonly Ask[]): Promise<QuotaReservation[]> {
  const deadlineMs = performance.now() + TIME_LIMIT_MS
  for (;;) {
    try {
      return await reserveAll(ledger, asks, PATIENCE_MS)
    } catch (error) {
      if (!isLockTimeout(causeOf(error)) || performance.now() > deadlineMs) throw error
    }
  }
}

/** Merges the asks of one key into one row of the call, and hands its grants out in order of arrival. */
async function reserveAll(ledger: QuotaLedger, asks: readonly Ask[], patienceMs?: number): Promise<QuotaReservation[]> {
  const wanted = new Map<string, number>()
  for (const { keyHash, requests } of asks) wanted.set(keyHash, (wanted.get(keyHash) ?? 0) + requests)
  const keyHashes = [...wanted.keys()]
  const replies = await ledger
    .reserve(
      keyHashes.map(keyHash => ({ keyHash, requests: wanted.get(keyHash) ?? 0 })),
      keyHashes.length === 1 ? patienceMs : undefined,
    )
    .catch(unavailable)
  const byKey = new Map(
    replies.map(({ resolvedKey, granted }, i) => [keyHashes[i], { account: resolvedKey, left: granted }]),
  )
  const reservations = asks.map(({ keyHash, requests }): QuotaReservation => {
    const found = byKey.get(keyHash) ?? unavailable('admit() left out a key')
    const { account } = found
    if (account.verdict === 'unknown' || requests === 0 || found.left < requests)
      return { resolvedKey: account, reserved: false }
    found.left -= requests
    return { resolvedKey: account, reserved: true }
  })
  // Too few for one that asked for several.
  for (const { account, left } of byKey.values()) {
    if (left > 0 && account.verdict !== 'unknown') ledger.refund(account, left)
  }
  return reservations
}

function unavailable(cause: unknown): never {
  throw createError('databaseUnavailable', null, cause)
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined
}
