/** What a request may cost is reserved in budgets, and released. */
import type { AdmissionBatch } from './admit-requests.ts'
import { callFunction } from './call.ts'
import type { Database } from './database.ts'

export interface ReservationRequest {
  /** A UUID; a request may reserve several times under it. */
  id: string
  project_id: number
  key_id: number
  request_id: string
  endpoint: string
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

export type ReservationReply = { verdict: 'granted'; remaining_usd: number | null } | ReservationRejection

export interface ReservationRejection {
  /**
   * `reserved`: it fits once other requests have settled. `exhausted`: it fits no more. `unpriced`: a budget in US dollars or tokens applies, and
   * the most that it may cost is not known.
   */
  verdict: 'reserved' | 'exhausted' | 'unpriced'
  remaining_usd: number | null
  /** Of the budget that refuses. */
  budget_id: number
  unit: 'usd' | 'tokens'
  amount: number
  per: 'day' | 'week' | 'month' | 'total'
  scope: 'key' | 'tag' | 'model' | 'project' | 'organization'
  resets_at: Date | null
  spent: number
  /** By other requests; where `share_limit` rejects, by those of the same key, or project. */
  reserved: number
  /** The most that one key may reserve of a project's budget, or one project of the organization's; null where no share rejects. */
  share_limit: number | null
  /** Whether it fits once the requests that live have settled. */
  may_wait: boolean
}

/** One reply for each ask, in order; none when a batch comes again. */
export async function reserveSpending(
  database: Database,
  asks: readonly ReservationRequest[],
  { slot, sequence }: AdmissionBatch,
): Promise<ReservationReply[]> {
  const sent = asks.map(ask => ({
    ...ask,
    // A client may ask for any number of tokens: beyond what bigint holds, it would fail all that are asked with it.
    tokens: ask.tokens === null ? null : Math.min(ask.tokens, Number.MAX_SAFE_INTEGER),
    tags: ask.tags === null ? null : JSON.parse(ask.tags),
  }))
  const rows = await callFunction(database, 'reserve_spending', { asks: sent, in_slot: slot, this_batch: sequence })
  return rows as unknown as ReservationReply[]
}

/** Releases all that was reserved under these ids. Resolves to true. */
export async function releaseSpending(database: Database, ids: readonly string[]): Promise<true> {
  await callFunction(database, 'settle_spending', { done: ids.map(id => ({ id, usd: 0, tokens: 0 })) })
  return true
}

/** Under which retain_batch_reservation() keeps what was reserved for a batch, until the batch is over. */
export function batchReservationId(projectId: number, batch: string): string {
  return Bun.MD5.hash(`${projectId} ${batch}`, 'hex')
}
