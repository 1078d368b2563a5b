/** Calls refund_requests(): gives back reserved requests that were not answered. */
import { sql } from 'kysely'
import type { Database } from './database.ts'

export interface Refund {
  projectId: number
  keyType: 'project' | 'test'
  /** The month they were reserved in, `YYYY-MM-DD`. */
  month: string
  requests: number
}

export async function refundRequests(database: Database, refunds: readonly Refund[]): Promise<void> {
  await sql`select refund_requests(
    ${refunds.map(refund => refund.projectId)}::bigint[],
    ${refunds.map(refund => refund.keyType)}::text[],
    ${refunds.map(refund => refund.month)}::date[],
    ${refunds.map(refund => refund.requests)}::integer[]
  )`.execute(database.queries)
}
