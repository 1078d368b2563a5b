/** Calls refund_requests(): gives back reserved requests that were not answered. */
import type { Database } from './database.ts'
import { defineStatement, nothing, runStatement, toColumns } from './statement.ts'

export interface Refund {
  projectId: number
  keyType: 'project' | 'test'
  /** The month they were reserved in, `YYYY-MM-DD`. */
  month: string
  requests: number
}

const REFUND_REQUESTS = defineStatement(
  'select refund_requests($1::bigint[], $2::text[], $3::date[], $4::integer[], $5::uuid) as done',
  { done: nothing },
)

/** Idempotent: refunds with the same `batch`, a UUID, are applied once. */
export async function refundRequests(database: Database, refunds: readonly Refund[], batch: string): Promise<void> {
  const columns = toColumns(refunds, ['projectId', 'keyType', 'month', 'requests'])
  await runStatement(database, REFUND_REQUESTS, [...columns, batch])
}
