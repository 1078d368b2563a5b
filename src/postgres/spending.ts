/** Reserves the maximum cost of requests in budgets, and releases it. */
import type { AdmissionBatch } from './admit-requests.ts'
import { callFunction } from './call.ts'
import type { Database } from './database.ts'

export interface ReservationRequest {
  /** A UUID. A request may make several reservations under it. */
  id: string
  project_id: number
  key_id: number
  request_id: string
  endpoint: string
  model: string
  /** The tags as JSON; null for none. */
  tags: string | null
  /** The maximum cost in US dollars; null if it is unknown. */
  usd: number | null
  /** The maximum number of tokens; null if it is unknown. */
  tokens: number | null
  /** The item whose price is unknown, if `usd` is null for that reason. */
  unknown?: string | undefined
}

export type ReservationReply = { verdict: 'granted'; remaining_usd: number | null } | ReservationRejection

export interface ReservationRejection {
  /**
   * `reserved`: the request fits once others have settled. `exhausted`: it no longer fits. `unpriced`: a budget applies, and the request's
   * maximum cost or tokens are unknown.
   */
  verdict: 'reserved' | 'exhausted' | 'unpriced'
  remaining_usd: number | null
  /** The budget that rejects the request. The fields below describe it. */
  budget_id: number
  unit: 'usd' | 'tokens'
  amount: number
  per: 'day' | 'week' | 'month' | 'total'
  scope: 'key' | 'tag' | 'model' | 'project' | 'organization'
  resets_at: Date | null
  spent: number
  /** The amount reserved by other requests; if `share_limit` rejects, by those of the same key or project. */
  reserved: number
  /** The most that one key may reserve of a project's budget, or one project of the organization's. Null if no share limit rejects. */
  share_limit: number | null
  /** True if the request fits once the requests in flight have settled. */
  may_wait: boolean
}

/** Makes reservations. Returns one reply for each request, in order; none if the batch was applied before. */
export async function reserveSpending(
  database: Database,
  requests: readonly ReservationRequest[],
  { slot, sequence }: AdmissionBatch,
): Promise<ReservationReply[]> {
  const sent = requests.map(request => ({
    ...request,
    // A client may request any number of tokens. A number beyond bigint would fail the whole batch.
    tokens: request.tokens === null ? null : Math.min(request.tokens, Number.MAX_SAFE_INTEGER),
    tags: request.tags === null ? null : JSON.parse(request.tags),
  }))
  const rows = await callFunction(database, 'reserve_spending', { requests: sent, in_slot: slot, this_batch: sequence })
  return rows as unknown as ReservationReply[]
}

/** Releases all reservations with these ids. Resolves to true. */
export async function releaseSpending(database: Database, ids: readonly string[]): Promise<true> {
  await callFunction(database, 'settle_spending', { settlements: ids.map(id => ({ id, usd: 0, tokens: 0 })) })
  return true
}

/** Returns the id under which retain_batch_reservation() holds the reservation of a batch until the batch ends. */
export function batchReservationId(projectId: number, batch: string): string {
  return Bun.MD5.hash(`${projectId} ${batch}`, 'hex')
}
