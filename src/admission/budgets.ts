/**
 * Budgets: the most that a request may cost is reserved before its provider is asked, strictly in PostgreSQL, in every budget that applies
 * or in none. A reservation ends in the ways of the quota's (quota.ts): settled with the request's record, in the same transaction;
 * released when the request fails or its reply comes late; when the reply is lost, asked for again until it is known, then released;
 * and taken for spent by upkeep, when its process has not renewed it for five minutes, until its record comes.
 */

import { LRUCache } from 'lru-cache'
import { formatUsd } from '../catalogue/catalogue.ts'
import { type ProxyError, refuse } from '../errors/errors.ts'
import { BackgroundWork } from '../event-loop/background-work.ts'
import { createBatcher } from '../event-loop/batcher.ts'
import { withinTimeLimit } from '../event-loop/time-limit.ts'
import { call } from '../postgres/call.ts'
import type { Database } from '../postgres/database.ts'
import { releaseSpending, reserveSpending, type SpendingAsk, type SpendingReply } from '../postgres/spending.ts'
import { createSlots } from './quota-ledger.ts'

/** What a request is known to cost at most; null where it is not known. */
export type Largest = Pick<SpendingAsk, 'usd' | 'tokens' | 'unknown'>

export interface Budgets {
  /**
   * Reserves the most that a request may cost. Resolves to what is left of the narrowest budget in US dollars; null without one. Throws
   * 400, 429 or 503, with nothing reserved.
   */
  reserve(ask: SpendingAsk): Promise<number | null>
  /** The request is over: its record settles what was reserved. */
  close(id: string): void
  /** Releases all that was reserved for a request, which costs nothing; retries until the database has taken it. */
  release(id: string): void
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

/** `timeLimitMs`: of a reservation. */
export function createBudgets(
  database: Database,
  timeLimitMs = database.backend === 'embedded' ? EMBEDDED_TIME_LIMIT_MS : TIME_LIMIT_MS,
): Budgets {
  const slots = createSlots()
  const releasing = new BackgroundWork()
  /** Requests under way. */
  const open = new Set<string>()
  /** One for each project: its budgets may be locked. */
  const lanes = new LRUCache<number, (ask: SpendingAsk) => Promise<SpendingReply>>({ max: MOST_LANES })
  let renewing: ReturnType<typeof setInterval> | undefined

  function openLane() {
    return createBatcher<SpendingAsk, SpendingReply>({
      run: asks =>
        slots
          .use(
            batch => reserveSpending(database, asks, batch),
            () => void releasing.add(releaseAll(asks.map(({ id }) => id))),
          )
          .catch(cause => {
            throw refuse('databaseUnavailable', null, cause)
          }),
      maxItems: MAX_BATCH,
      timeLimitMs,
      timeLimitError: isBusy => refuse(isBusy ? 'busy' : 'databaseUnavailable'),
      answeredAtMs: database.answeredAtMs,
      onLateResult: ({ id }, late) => {
        if (late.verdict === 'granted') release(id)
      },
    })
  }

  function laneOf(projectId: number) {
    let lane = lanes.get(projectId)
    if (!lane) {
      lane = openLane()
      lanes.set(projectId, lane)
    }
    return lane
  }

  async function releaseAll(ids: readonly string[]): Promise<void> {
    for (const id of ids) open.delete(id)
    const isDone = () => releaseSpending(database, ids).catch(() => false)
    while (!(await isDone())) await Bun.sleep(RETRY_MS)
  }

  function release(id: string): void {
    void releasing.add(releaseAll([id]))
  }

  function renew(): void {
    if (open.size === 0) {
      clearInterval(renewing)
      renewing = undefined
      // The next call comes before they expire; after an outage, the record puts right what was taken for spent.
    } else void call(database, 'renew_spending', { ids: [...open] }).catch(() => {})
  }

  return {
    async reserve(ask) {
      const reply = await laneOf(ask.project_id)(ask)
      if (reply.verdict !== 'granted') throw refusalOf(ask, reply)
      open.add(ask.id)
      renewing ??= setInterval(renew, RENEW_EVERY_MS).unref()
      return reply.remaining_usd
    },
    close: id => void open.delete(id),
    release,
    async drain(limitMs) {
      const settled = slots.settled().then(() => releasing.settled())
      await withinTimeLimit(limitMs, settled).catch(() => {})
    },
  }
}

const PERIODS = { day: ' a day', week: ' a week', month: ' a month', total: ' in all' }

function refusalOf(
  ask: SpendingAsk,
  { verdict, unit, amount, per, scope, resets_at, remaining_usd }: Exclude<SpendingReply, { verdict: 'granted' }>,
): ProxyError {
  const unitName = unit === 'usd' ? 'USD' : 'tokens'
  if (verdict === 'unpriced') {
    const missing = ask.unknown === undefined ? 'a limit of its answers' : `a price of ${ask.unknown}`
    return refuse('unpricedModel', { model: ask.model, unit: unitName, missing })
  }
  const until = resets_at === null ? 'it does not reset' : `it resets at ${resets_at.toISOString().replace('.000', '')}`
  const budget = `${amount} ${unitName}${PERIODS[per]} for this ${scope}`
  const most = `${unit === 'usd' ? formatUsd(ask.usd ?? 0) : ask.tokens} ${unitName}`
  const refusal = refuse('budgetExceeded', { budget, until, most })
  if (remaining_usd !== null) refusal.headers['x-proxy-budget-remaining-usd'] = formatUsd(remaining_usd)
  return refusal
}
