/** Calls the functions of budgets: what a request may cost is reserved, renewed, and settled. */
import type { AdmitBatch } from './admit.ts'
import type { Database } from './database.ts'
import { defineStatement, double, integer, nothing, nullable, runStatement, text, timestamp } from './statement.ts'

export interface SpendingAsk {
  /** A UUID; a request may reserve several times under it. */
  id: string
  project_id: number
  key_id: number
  model: string
  /** JSON; null for none. */
  tags: string | null
  /** The most that it may cost, in US dollars; null when that is not known. */
  usd: number | null
  /** The most tokens that it may take; null when that is not known. */
  tokens: number | null
  /** What has no price that is known, where `usd` is null for want of one. */
  unknown?: string | undefined
}

export type SpendingReply =
  | { verdict: 'granted'; remaining_usd: number | null }
  | {
      /** `unpriced`: a budget in US dollars or tokens applies, and the most that it may cost is not known. */
      verdict: 'exhausted' | 'unpriced'
      remaining_usd: number | null
      /** Of the budget that refuses. */
      unit: 'usd' | 'tokens'
      amount: number
      per: 'day' | 'week' | 'month' | 'total'
      scope: 'key' | 'tag' | 'model' | 'project' | 'organization'
      resets_at: Date | null
    }

const RESERVE = defineStatement('select * from model_proxy.reserve_spending($1::text::json, $2::uuid, $3::bigint)', {
  ordinal: integer,
  verdict: text<SpendingReply['verdict']>(),
  remaining_usd: nullable(double),
  unit: nullable(text()),
  amount: nullable(double),
  per: nullable(text()),
  scope: text(),
  resets_at: nullable(timestamp),
})
const SETTLE = defineStatement('select model_proxy.settle_spending($1::text::json) as done', { done: nothing })
const RENEW = defineStatement('select model_proxy.renew_spending($1::uuid[]) as done', { done: nothing })
const KEEP = defineStatement('select model_proxy.keep_spending($1::uuid, $2::bigint, $3::text) as done', {
  done: nothing,
})
const PRESUME_EXPIRED = defineStatement('select model_proxy.presume_expired_spending() as done', { done: nothing })

/** One reply for each ask, in order; none when a batch comes again. */
export async function reserveSpending(
  database: Database,
  asks: readonly SpendingAsk[],
  { slot, sequence }: AdmitBatch,
): Promise<SpendingReply[]> {
  const sent = asks.map(ask => ({
    ...ask,
    // A client may ask for any number of tokens: beyond what bigint holds, it would fail all that are asked with it.
    tokens: ask.tokens === null ? null : Math.min(ask.tokens, Number.MAX_SAFE_INTEGER),
    tags: ask.tags === null ? null : JSON.parse(ask.tags),
  }))
  const rows = await runStatement(database, RESERVE, [JSON.stringify(sent), slot, sequence])
  return rows as unknown as SpendingReply[]
}

/** Releases all that was reserved under these ids. Resolves to true. */
export async function releaseSpending(database: Database, ids: readonly string[]): Promise<true> {
  await runStatement(database, SETTLE, [JSON.stringify(ids.map(id => ({ id, usd: 0, tokens: 0 })))])
  return true
}

export async function renewSpending(database: Database, ids: readonly string[]): Promise<void> {
  await runStatement(database, RENEW, [ids])
}

/** What was reserved for a batch stays until the batch is over, under `batchSpendingId`. */
export async function keepSpending(database: Database, id: string, projectId: number, batch: string): Promise<void> {
  await runStatement(database, KEEP, [id, projectId, batch])
}

/** As in keep_spending(). */
export function batchSpendingId(projectId: number, batch: string): string {
  return Bun.MD5.hash(`${projectId} ${batch}`, 'hex')
}

/** Takes what processes had reserved that are gone for spent, until its record comes. */
export async function presumeExpiredSpending(database: Database): Promise<void> {
  await runStatement(database, PRESUME_EXPIRED)
}

export interface RemainingBudget {
  /** Empty for the organization's. */
  project: string
  /** Its id, as in the admin API. */
  budget: string
  per: string
  remaining_usd: number
}

const REMAINING = defineStatement('select * from model_proxy.remaining_budgets($1::integer)', {
  project: text(),
  budget: text(),
  per: text(),
  remaining_usd: double,
})

/** What is left of budgets in US dollars, of all projects; those first of which the least share is left. */
export function remainingBudgets(database: Database, atMost: number): Promise<RemainingBudget[]> {
  return runStatement(database, REMAINING, [atMost])
}
