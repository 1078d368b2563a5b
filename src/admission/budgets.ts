/**
 * Budgets. The maximum cost of a request is reserved in PostgreSQL before its provider is called, in every budget that applies or in none.
 * A reservation ends in one of these ways:
 *
 * - The request's usage record settles it, in the same transaction.
 * - It is released when the request fails, or when the reply to the reservation comes late.
 * - When that reply is lost, the reservation is sent again until its result is known, then released.
 * - Maintenance treats it as spent when its process has not renewed it for five minutes, until its usage record arrives.
 *
 * A request that fits only after others have settled may wait for them (reservation-queue.ts).
 */

import { LRUCache } from 'lru-cache'
import { formatUsd } from '../catalogue/catalogue.ts'
import { createError, type ProxyError } from '../errors/errors.ts'
import { BackgroundWork } from '../event-loop/background-work.ts'
import { createBatcher } from '../event-loop/batcher.ts'
import { withTimeout } from '../event-loop/timeouts.ts'
import { callFunction } from '../postgres/call.ts'
import type { Database } from '../postgres/database.ts'
import {
  type ReservationRejection,
  type ReservationReply,
  type ReservationRequest,
  releaseSpending,
  reserveSpending,
} from '../postgres/spending.ts'
import type { UsageRecord } from '../postgres/usage-record.ts'
import { createReservationSlots } from './quota-reservations.ts'
import { createReservationQueues } from './reservation-queue.ts'

/** Upper bound on a request's cost in US dollars and in tokens. Null where there is no known bound. */
export type CostBound = Pick<ReservationRequest, 'usd' | 'tokens' | 'unknown'>

export interface Budgets {
  /**
   * Reserves the maximum cost of a request. Resolves to the US dollars left in the budget with the least left; null without one. Throws
   * 400, 429 or 503, with nothing reserved. With a signal, the request may wait for other requests to release their reservations; it
   * throws ClientDisconnected when the signal is aborted.
   */
  reserve(request: ReservationRequest, signal?: AbortSignal): Promise<number | null>
  /** Stops renewing the reservation of a finished request. Its usage record settles the reservation. */
  stopRenewing(id: string): void
  /** Releases every reservation of a request that costs nothing. Retries until the database confirms. */
  release(id: string): void
  /** Retries the waiting requests of these records' projects. Call it when the records are written, which settles their reservations. */
  onRecordsWritten(records: readonly UsageRecord[]): void
  /** Resolves when the result of every reservation is known and every release is confirmed, or at the time limit. */
  drain(timeLimitMs: number): Promise<void>
}

const TIME_LIMIT_MS = 5_000
const EMBEDDED_TIME_LIMIT_MS = 30_000
/** All reservations of one call are made under one lock of the budgets. Each takes a few tenths of a millisecond. */
const MAX_BATCH = 100
const RENEW_EVERY_MS = 60_000
/** Projects whose reservation batchers are cached. An evicted project may reserve in two batches at once. */
const MAX_BATCHERS = 5_000
const RETRY_MS = 250
/** Shorter than the timeouts of common clients. */
const DEFAULT_MAX_WAIT_MS = 5_000

export interface BudgetOptions {
  /** Longest time a request waits for reservations of other requests to end. */
  maxWaitMs?: number | undefined
  /** Returns priced models with similar names, the most similar first. */
  findSimilarModels?: (model: string) => readonly string[]
}

/** `timeLimitMs` limits one reservation. */
export function createBudgets(
  database: Database,
  timeLimitMs = database.backend === 'embedded' ? EMBEDDED_TIME_LIMIT_MS : TIME_LIMIT_MS,
  { maxWaitMs = DEFAULT_MAX_WAIT_MS, findSimilarModels = () => [] }: BudgetOptions = {},
): Budgets {
  const slots = createReservationSlots()
  const releasing = new BackgroundWork()
  /** Project id of each request in flight, by request id. */
  const open = new Map<string, number>()
  const queues = createReservationQueues({
    reserve: request => batcherOf(request.project_id)(request),
    release,
    maxWaitMs,
  })
  /** One batcher per project, because a project's budgets may be locked. */
  const batchers = new LRUCache<number, (request: ReservationRequest) => Promise<ReservationReply>>({
    max: MAX_BATCHERS,
  })
  const startRenewing = createRenewer(database, open)

  function createProjectBatcher() {
    return createBatcher<ReservationRequest, ReservationReply>({
      run: requests =>
        slots
          .use(
            batch => reserveSpending(database, requests, batch),
            () => void releasing.add(releaseAll(requests.map(({ id }) => id))),
          )
          .catch(cause => {
            throw createError('databaseUnavailable', null, cause)
          }),
      maxItems: MAX_BATCH,
      timeoutMs: timeLimitMs,
      createTimeoutError: isBusy => createError(isBusy ? 'busy' : 'databaseUnavailable'),
      lastReplyAtMs: database.lastReplyAtMs,
      onLateResult: ({ id }, late) => {
        if (late.verdict === 'granted') release(id)
      },
    })
  }

  function batcherOf(projectId: number) {
    const batcher = batchers.get(projectId) ?? createProjectBatcher()
    batchers.set(projectId, batcher)
    return batcher
  }

  async function releaseAll(ids: readonly string[]): Promise<void> {
    const projects = ids.flatMap(id => open.get(id) ?? [])
    for (const id of ids) open.delete(id)
    const isDone = () => releaseSpending(database, ids).catch(() => false)
    while (!(await isDone())) await Bun.sleep(RETRY_MS)
    queues.retryWaiting(projects)
  }

  function release(id: string): void {
    void releasing.add(releaseAll([id]))
  }

  return {
    async reserve(request, signal) {
      let reply = (signal && queues.findOlderRejection(request)) ?? (await batcherOf(request.project_id)(request))
      if (signal && reply.verdict === 'reserved' && reply.may_wait) reply = await queues.wait(request, reply, signal)
      if (reply.verdict !== 'granted') throw createBudgetError(request, reply, findSimilarModels)
      open.set(request.id, request.project_id)
      startRenewing()
      return reply.remaining_usd
    },
    stopRenewing: id => void open.delete(id),
    release,
    onRecordsWritten: records =>
      queues.retryWaiting(records.flatMap(({ spent, project_id }) => (spent ? project_id : []))),
    async drain(limitMs) {
      const settled = slots.settled().then(() => releasing.settled())
      await withTimeout(limitMs, settled).catch(() => {})
    },
  }
}

/** Returns a function that starts to renew the reservations of the open requests each minute, until none is open. */
function createRenewer(database: Database, open: ReadonlyMap<string, number>): () => void {
  let renewing: ReturnType<typeof setInterval> | undefined

  function renew(): void {
    if (open.size === 0) {
      clearInterval(renewing)
      renewing = undefined
      // An error is ignored: the next call comes before they expire. After an outage, the usage record corrects what was treated as spent.
    } else void callFunction(database, 'renew_reservations', { ids: [...open.keys()] }).catch(() => {})
  }

  return () => {
    renewing ??= setInterval(renew, RENEW_EVERY_MS).unref()
  }
}

const PERIODS = { day: ' a day', week: ' a week', month: ' a month', total: ' in total' }

/** Retry-After values. Requests in flight end soon. A batch, or a reservation of a process that has exited, takes longer. */
const RETRY_AFTER_S = 5
const RETRY_LATER_S = 60

function createBudgetError(
  request: ReservationRequest,
  rejection: ReservationRejection,
  findSimilarModels: (model: string) => readonly string[],
): ProxyError {
  const { verdict, unit, amount, per, scope, resets_at, remaining_usd, spent, reserved, share_limit, may_wait } =
    rejection
  const unitName = unit === 'usd' ? 'USD' : 'tokens'
  if (verdict === 'unpriced' && request.unknown === request.model) {
    const [nearest] = findSimilarModels(request.model)
    const hint = nearest === undefined ? '' : ` Did you mean ${nearest}?`
    return createError('unknownPrice', { model: request.model, unit: unitName, hint })
  }
  if (verdict === 'unpriced') {
    const missing = request.unknown === undefined ? 'a maximum response length' : `a price of ${request.unknown}`
    return createError('unpricedModel', { model: request.model, unit: unitName, missing })
  }
  const format = (used: number) => `${unit === 'usd' ? formatUsd(used) : used} ${unitName}`
  const until = resets_at === null ? 'it does not reset' : `it resets at ${resets_at.toISOString().replace('.000', '')}`
  const budget = `${amount} ${unitName}${PERIODS[per]} for this ${scope}`
  const maxCost = format((unit === 'usd' ? request.usd : request.tokens) ?? 0)
  const [holder, setting] = scope === 'organization' ? ['project', ''] : ['key', ' (budget_key_share)']
  const holders =
    share_limit === null
      ? 'requests that are not settled yet'
      : `other requests of this ${holder}, which may reserve ${format(share_limit)} at once${setting}`
  const error =
    verdict === 'exhausted'
      ? createError('budgetExceeded', { budget, until, most: maxCost, left: format(Math.max(0, amount - spent)) })
      : createError('budgetReserved', {
          ...{ budget, most: maxCost, holders, spent: format(spent), reserved: format(reserved) },
          seconds: may_wait ? RETRY_AFTER_S : RETRY_LATER_S,
        })
  if (remaining_usd !== null) error.headers['x-proxy-budget-remaining-usd'] = formatUsd(remaining_usd)
  return error
}
