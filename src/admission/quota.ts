/**
 * The monthly quota. A request is reserved in PostgreSQL before it runs. Requests that arrive while a batch is in flight share the next
 * batch. However a reservation ends, an answered request is counted and no other request stays counted:
 *
 *     new ────▶ batched ─▶ sent ─┬─ granted ──┬─ the request is answered ───────────────▶ 1 counted
 *       ▲         ▲              │            └─ it fails, or is rejected later ────────▶ 2 refunded
 *       │         │              ├─ too few requests left in the month ─────────────────▶ 3 rejected: 429
 *       │         │              ├─ the key is unknown or not active ───────────────────▶ 4 rejected: 401, 403
 *       │         │              ├─ the reply comes after the time limit ───────────────▶ 5 503; refunded when it comes
 *       │         │              ├─ the reply is lost: sent again until it is answered ─▶ 6 503; refunded then
 *       │         └─ separate ───┼─ the counter is locked for longer than the limit ────▶ 7 503; nothing was counted
 *       │            batcher     │
 *       └─ during a deploy ──────┴─ the database fails or rejects ──────────────────────▶ 8 503; nothing was counted
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

/** A client must learn within one second that the database is down. The rest of that second is for all other work. */
const TIME_LIMIT_MS = 850
/** The embedded database runs one call at a time, so that a burst is answered late rather than rejected. */
const EMBEDDED_TIME_LIMIT_MS = 30_000
const MAX_BATCH = 1_000
/** No key has this hash. */
const NO_KEY = '0'.repeat(64)
/** After a key's counter was found locked, the key's requests use a separate batcher for this long. */
const REMEMBER_LOCKED_MS = 2_000
const MAX_LOCKED = 10_000

/** Longest time a request waits for a deploy that locks the tables. Then it fails. */
const DEPLOY_LIMIT_MS = 15_000
const DEPLOY_RETRY_MS = 50

/** `reserved` is true when all requests were reserved. Otherwise none was. */
export type QuotaReservation =
  | { reserved: true; resolvedKey: ResolvedKey }
  | { reserved: false; resolvedKey: ResolvedKey | UnknownKey }

export interface Quota {
  /** Validates a key without counting. Throws 503 when the database does not reply in time. */
  validate(keyHash: string): Promise<ResolvedKey | UnknownKey>
  /** Validates a key and reserves requests of its month, all or none. Throws 503 when the database does not reply in time. */
  reserve(keyHash: string, requests?: number): Promise<QuotaReservation>
  /** Reserves one request without waiting for requests that are being counted in rate windows. */
  reserveImmediately(keyHash: string): Promise<QuotaReservation>
  /** Refunds reserved requests, one by default. Retries until the database confirms. */
  refund(counter: MonthlyCounterKey, requests?: number): void
  /** Lets the database prepare the statements, so that the first request does not wait for it. Never rejects. */
  warm(): Promise<unknown>
  /** Resolves when every lost reply is known and every refund is confirmed. */
  settled(): Promise<void>
}

interface QuotaRequest {
  keyHash: string
  /** 0 validates the key without counting. */
  requests: number
}

/** Another transaction holds a lock on the project's counter. */
interface LockedCounter {
  /** The counter's value; null when unknown. */
  lockedAt: number | null
}
type Reply = QuotaReservation | LockedCounter

const isLocked = (reply: Reply): reply is LockedCounter => 'lockedAt' in reply

/** How long a batch of one key waits for a locked counter. It delays no other key, and keeps its place in the lock's queue. */
const LOCK_WAIT_MS = 200
/** A request waits up to this many time limits for a locked counter whose value changes, as others are counted there meanwhile. */
const MAX_TIME_LIMITS = 3

/** Requests that `windows` is counting will be reserved here next. */
export function createQuota(
  database: Database,
  windows: Pick<RateLimiter, 'inFlight'>,
  timeLimitMs = database.backend === 'embedded' ? EMBEDDED_TIME_LIMIT_MS : TIME_LIMIT_MS,
): Quota {
  const ledger = createQuotaLedger(database)
  const deploys = createDeployMonitor(database)
  const createQuotaBatcher = (upcomingItems = windows.inFlight, maxWaitMs?: number) =>
    createBatcher<QuotaRequest, Reply>({
      run: requests => callAtHalfLimit(deploys.startCheck, runBatch(database, ledger, requests, maxWaitMs)),
      maxItems: MAX_BATCH,
      timeoutMs: timeLimitMs,
      createTimeoutError: isBusy => createError(isBusy ? 'busy' : 'databaseUnavailable'),
      lastReplyAtMs: database.lastReplyAtMs,
      upcomingItems,
      onLateResult: ({ requests }, late) => {
        if (!isLocked(late) && late.reserved) ledger.refund(late.resolvedKey, requests)
      },
    })
  const reserveInBatch = createQuotaBatcher()
  const reserveAlone = createQuotaBatcher(() => null)
  /** Reserves for keys with locked counters, so that they do not delay other keys. */
  const reserveLocked = createQuotaBatcher(windows.inFlight, LOCK_WAIT_MS)
  const recentlyLocked = new LRUCache<string, true>({ max: MAX_LOCKED, ttl: REMEMBER_LOCKED_MS })

  /** Sends the request, and again while a deploy locks the tables. */
  async function send(request: QuotaRequest, batcher = reserveInBatch): Promise<QuotaReservation> {
    const deadlineMs = performance.now() + DEPLOY_LIMIT_MS
    for (;;) {
      const startedAtMs = performance.now()
      try {
        return await sendOnce(request, batcher)
      } catch (error) {
        if (performance.now() > deadlineMs || !(await deploys.isDeploying(startedAtMs))) throw error
        await Bun.sleep(DEPLOY_RETRY_MS)
      }
    }
  }

  async function sendOnce(request: QuotaRequest, batcher: typeof reserveInBatch): Promise<QuotaReservation> {
    const startedAtMs = performance.now()
    const { keyHash } = request
    let deadlineMs = startedAtMs + timeLimitMs
    let lastValue: number | null = null
    let reply: Reply = recentlyLocked.has(keyHash) ? { lockedAt: null } : await batcher(request)
    while (isLocked(reply)) {
      const { lockedAt } = reply
      // The counter changes: it is not held by one transaction.
      if (lastValue !== null && lockedAt !== lastValue)
        deadlineMs = Math.min(performance.now(), startedAtMs + (MAX_TIME_LIMITS - 1) * timeLimitMs) + timeLimitMs
      lastValue = lockedAt ?? lastValue
      if (performance.now() > deadlineMs) throw createError('busy')
      recentlyLocked.set(keyHash, true)
      reply = await reserveLocked(request)
    }
    if (recentlyLocked.size > 0) recentlyLocked.delete(keyHash)
    return reply
  }

  return {
    validate: async keyHash => (await send({ keyHash, requests: 0 })).resolvedKey,
    reserve: (keyHash, requests = 1) => send({ keyHash, requests }),
    reserveImmediately: keyHash => send({ keyHash, requests: 1 }, reserveAlone),
    refund: (counter, requests = 1) => ledger.refund(counter, requests),
    warm: () => send({ keyHash: NO_KEY, requests: 0 }).catch(() => {}),
    settled: ledger.settled,
  }
}

/** Calls `onHalf` when half of the batch's time limit has passed and it is still in flight. */
function callAtHalfLimit<Replies>(onHalf: () => void, batch: Promise<Replies>): Promise<Replies> {
  const endHalf = startTimeout(TIME_LIMIT_MS / 2, onHalf)
  return batch.finally(endHalf)
}

/** Requests with a locked counter resolve to LockedCounter, so that no other request waits for the lock. */
async function runBatch(
  database: Database,
  ledger: QuotaLedger,
  requests: readonly QuotaRequest[],
  maxWaitMs?: number,
): Promise<Reply[]> {
  try {
    return await reserveAll(ledger, requests, maxWaitMs)
  } catch (error) {
    if (!isLockTimeout(causeOf(error))) throw error
  }
  const locked = await findLockedCounters(database, [...new Set(requests.map(({ keyHash }) => keyHash))]).catch(
    throwUnavailable,
  )
  const free = requests.filter(({ keyHash }) => !locked.has(keyHash))
  const replies = free.length > 0 ? await reserveAfterDeploy(ledger, free) : []
  let next = 0
  return requests.map(({ keyHash }) => {
    const isFree = !locked.has(keyHash)
    return (isFree && replies[next++]) || { lockedAt: locked.get(keyHash) ?? null }
  })
}

/** Like `reserveAll`, for keys without a locked counter: a deploy then locks the tables briefly. Retries until it has finished. */
async function reserveAfterDeploy(ledger: QuotaLedger, requests: readonly QuotaRequest[]): Promise<QuotaReservation[]> {
  const deadlineMs = performance.now() + TIME_LIMIT_MS
  for (;;) {
    try {
      return await reserveAll(ledger, requests, LOCK_WAIT_MS)
    } catch (error) {
      if (!isLockTimeout(causeOf(error)) || performance.now() > deadlineMs) throw error
    }
  }
}

/** Merges the requests of one key into one row of the call, and distributes its grants in order of arrival. */
async function reserveAll(
  ledger: QuotaLedger,
  batch: readonly QuotaRequest[],
  maxWaitMs?: number,
): Promise<QuotaReservation[]> {
  const requested = new Map<string, number>()
  for (const { keyHash, requests } of batch) requested.set(keyHash, (requested.get(keyHash) ?? 0) + requests)
  const keyHashes = [...requested.keys()]
  const replies = await ledger
    .reserve(
      keyHashes.map(keyHash => ({ keyHash, requests: requested.get(keyHash) ?? 0 })),
      keyHashes.length === 1 ? maxWaitMs : undefined,
    )
    .catch(throwUnavailable)
  const byKey = new Map(replies.map(({ resolvedKey, granted }, i) => [keyHashes[i], { resolvedKey, left: granted }]))
  const reservations = batch.map(({ keyHash, requests }): QuotaReservation => {
    const found = byKey.get(keyHash) ?? throwUnavailable('admit() returned no row for a key of its batch')
    const { resolvedKey } = found
    if (resolvedKey.verdict === 'unknown' || requests === 0 || found.left < requests)
      return { resolvedKey, reserved: false }
    found.left -= requests
    return { resolvedKey, reserved: true }
  })
  // What is left was too few for a request of several.
  for (const { resolvedKey, left } of byKey.values()) {
    if (left > 0 && resolvedKey.verdict !== 'unknown') ledger.refund(resolvedKey, left)
  }
  return reservations
}

function throwUnavailable(cause: unknown): never {
  throw createError('databaseUnavailable', null, cause)
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined
}
