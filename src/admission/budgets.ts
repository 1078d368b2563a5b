/**
 * Budgets: the most that a request may cost is reserved before its provider is asked, strictly in PostgreSQL, in every budget that applies
 * or in none. A reservation ends in the ways of the quota's (quota.ts): settled with the request's record, in the same transaction;
 * released when the request fails or its reply comes late; when the reply is lost, asked for again until it is known, then released;
 * and taken for spent by upkeep, when its process has not renewed it for five minutes, until its record comes. A request that fits only
 * once others have settled may wait for them (reservation-queue.ts).
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

/** What a request is known to cost at most; null where it is not known. */
export type CostBound = Pick<ReservationRequest, 'usd' | 'tokens' | 'unknown'>

export interface Budgets {
  /**
   * Reserves the most that a request may cost. Resolves to what is left of the narrowest budget in US dollars; null without one. Throws
   * 400, 429 or 503, with nothing reserved. With a signal, it waits for what other requests in flight may release, and throws ClientDisconnected once
   * that is aborted.
   */
  reserve(ask: ReservationRequest, signal?: AbortSignal): Promise<number | null>
  /** The request is over: its record settles what was reserved. */
  stopRenewing(id: string): void
  /** Releases all that was reserved for a request, which costs nothing; retries until the database has taken it. */
  release(id: string): void
  /** These records are written: what their requests had reserved is settled. */
  onRecordsWritten(records: readonly UsageRecord[]): void
  /** Resolves when no reservation is in doubt any more and the database has taken every release, or the time is up. */
  drain(timeLimitMs: number): Promise<void>
}

const TIME_LIMIT_MS = 5_000
const EMBEDDED_TIME_LIMIT_MS = 30_000
/** The budgets stay locked while a batch is reserved, at some tenths of a millisecond each. */
const MAX_BATCH = 100
const RENEW_EVERY_MS = 60_000
/** A project beyond them may reserve in two batches at once. */
const MOST_LANES = 5_000
const RETRY_MS = 250
/** Shorter than the time limits of clients. */
const PATIENCE_MS = 5_000

export interface BudgetOptions {
  /** How long a request waits for what others have reserved. */
  maxWaitMs?: number
  /** Models with a price whose names are similar, the most similar first. */
  findSimilarModels?: (model: string) => readonly string[]
}

/** `timeLimitMs`: of a reservation. */
export function createBudgets(
  database: Database,
  timeLimitMs = database.backend === 'embedded' ? EMBEDDED_TIME_LIMIT_MS : TIME_LIMIT_MS,
  { maxWaitMs = PATIENCE_MS, findSimilarModels = () => [] }: BudgetOptions = {},
): Budgets {
  const slots = createReservationSlots()
  const releasing = new BackgroundWork()
  /** Projects of the requests under way. */
  const open = new Map<string, number>()
  const queues = createReservationQueues({
    reserve: ask => laneOf(ask.project_id)(ask),
    release,
    maxWaitMs,
  })
  /** One for each project: its budgets may be locked. */
  const lanes = new LRUCache<number, (ask: ReservationRequest) => Promise<ReservationReply>>({ max: MOST_LANES })
  let renewing: ReturnType<typeof setInterval> | undefined

  function openLane() {
    return createBatcher<ReservationRequest, ReservationReply>({
      run: asks =>
        slots
          .use(
            batch => reserveSpending(database, asks, batch),
            () => void releasing.add(releaseAll(asks.map(({ id }) => id))),
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

  function laneOf(projectId: number) {
    const lane = lanes.get(projectId) ?? openLane()
    lanes.set(projectId, lane)
    return lane
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

  function renew(): void {
    if (open.size === 0) {
      clearInterval(renewing)
      renewing = undefined
      // The next call comes before they expire; after an outage, the record puts right what was taken for spent.
    } else void callFunction(database, 'renew_reservations', { ids: [...open.keys()] }).catch(() => {})
  }

  return {
    async reserve(ask, signal) {
      let reply = (signal && queues.findOlderRejection(ask)) ?? (await laneOf(ask.project_id)(ask))
      if (signal && reply.verdict === 'reserved' && reply.may_wait) reply = await queues.wait(ask, reply, signal)
      if (reply.verdict !== 'granted') throw refusalOf(ask, reply, findSimilarModels)
      open.set(ask.id, ask.project_id)
      renewing ??= setInterval(renew, RENEW_EVERY_MS).unref()
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

const PERIODS = { day: ' a day', week: ' a week', month: ' a month', total: ' in all' }

/** When to try again: requests in flight end soon, but not a batch, nor what a process that is gone had reserved. */
const RETRY_AFTER_S = 5
const RETRY_LATER_S = 60

function refusalOf(
  ask: ReservationRequest,
  refusal: ReservationRejection,
  findSimilarModels: (model: string) => readonly string[],
): ProxyError {
  const { verdict, unit, amount, per, scope, resets_at, remaining_usd, spent, reserved, share_limit, may_wait } =
    refusal
  const unitName = unit === 'usd' ? 'USD' : 'tokens'
  if (verdict === 'unpriced' && ask.unknown === ask.model) {
    const [nearest] = findSimilarModels(ask.model)
    const hint = nearest === undefined ? '' : ` Did you mean ${nearest}?`
    return createError('unknownPrice', { model: ask.model, unit: unitName, hint })
  }
  if (verdict === 'unpriced') {
    const missing = ask.unknown === undefined ? 'a limit of its answers' : `a price of ${ask.unknown}`
    return createError('unpricedModel', { model: ask.model, unit: unitName, missing })
  }
  const tell = (used: number) => `${unit === 'usd' ? formatUsd(used) : used} ${unitName}`
  const until = resets_at === null ? 'it does not reset' : `it resets at ${resets_at.toISOString().replace('.000', '')}`
  const budget = `${amount} ${unitName}${PERIODS[per]} for this ${scope}`
  const most = tell((unit === 'usd' ? ask.usd : ask.tokens) ?? 0)
  const [holder, setting] = scope === 'organization' ? ['project', ''] : ['key', ' (budget_key_share)']
  const holders =
    share_limit === null
      ? 'requests that are not settled yet'
      : `other requests of this ${holder}, which may reserve ${tell(share_limit)} at once${setting}`
  const error =
    verdict === 'exhausted'
      ? createError('budgetExceeded', { budget, until, most, left: tell(Math.max(0, amount - spent)) })
      : createError('budgetReserved', {
          ...{ budget, most, holders, spent: tell(spent), reserved: tell(reserved) },
          seconds: may_wait ? RETRY_AFTER_S : RETRY_LATER_S,
        })
  if (remaining_usd !== null) error.headers['x-proxy-budget-remaining-usd'] = formatUsd(remaining_usd)
  return error
}
