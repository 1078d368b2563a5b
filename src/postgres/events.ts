/** Calls the functions of events: what happens in projects, and its delivery to the addresses that are told. */
import type { Database } from './database.ts'
import { bigint, bytes, defineStatement, nothing, runStatement, type Statement, text, timestamp } from './statement.ts'

/** An event for one address, as this process has to deliver it. */
export interface Delivery {
  id: number
  webhook_id: number
  project_id: number
  url: string
  /** The secret that signs it, sealed. */
  sealed: Uint8Array
  event_id: string
  kind: string
  at: Date
  /** JSON. */
  payload: string
}

const RAISE = defineStatement(
  'select model_proxy.raise_event($1::bigint, $2::text, $3::text::jsonb, $4::text) as done',
  {
    done: nothing,
  },
)
const RAISE_DUE = defineStatement('select model_proxy.raise_due_events() as done', { done: nothing })
const TAKE = defineStatement('select * from model_proxy.take_deliveries($1::integer)', {
  id: bigint,
  webhook_id: bigint,
  project_id: bigint,
  url: text(),
  sealed: bytes,
  event_id: text(),
  kind: text(),
  at: timestamp,
  payload: text(),
}) satisfies Statement<Delivery>
const SETTLE = defineStatement('select model_proxy.settle_delivery($1::bigint, $2::integer, $3::text) as done', {
  done: nothing,
})

export interface NewEvent {
  projectId: number
  kind: 'circuit.opened'
  payload: Record<string, string | number>
  /** Raised a single time for this project and kind. */
  once: string
}

export async function raiseEvent(database: Database, { projectId, kind, payload, once }: NewEvent): Promise<void> {
  await runStatement(database, RAISE, [projectId, kind, JSON.stringify(payload), once])
}

/** Raises what no change raises by itself. */
export async function raiseDueEvents(database: Database): Promise<void> {
  await runStatement(database, RAISE_DUE)
}

/** The next due delivery of up to so many addresses. Other processes get none of theirs until it is settled, or a minute is over. */
export function takeDeliveries(database: Database, atMost: number): Promise<Delivery[]> {
  return runStatement(database, TAKE, [atMost])
}

/** `status` is null without an answer; `problem` when the address took the event. */
export async function settleDelivery(
  database: Database,
  delivery: Pick<Delivery, 'id'>,
  { status, problem }: { status: number | null; problem: string | null },
): Promise<void> {
  await runStatement(database, SETTLE, [delivery.id, status, problem])
}
