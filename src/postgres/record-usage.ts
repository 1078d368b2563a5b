/** Calls record_usage() and its upkeep. */
import { sql } from 'kysely'
import type { Database } from './database.ts'

/** One answered, refused or failed request; the columns of usage_records. */
export interface UsageRecord {
  recorded_at: Date
  request_id: string
  project_id: number
  key_id: number
  endpoint: string
  model: string
  provider: string | null
  cache_result: 'HIT' | 'HIT-SEMANTIC' | 'MISS' | null
  status: number
  streamed: boolean
  prompt_tokens: number
  cached_prompt_tokens: number
  completion_tokens: number
  tokens_saved: number
  cost_usd: number
  saved_usd: number
  latency_ms: number
  duration_ms: number
}

export async function recordUsage(database: Database, records: readonly UsageRecord[]): Promise<void> {
  await sql`select record_usage(${JSON.stringify(records)}::text::json)`.execute(database.queries)
}

/** Makes partitions ahead of time and drops those past retention. */
export async function maintainUsagePartitions(database: Database): Promise<void> {
  await sql`select maintain_usage_partitions()`.execute(database.queries)
}

/** Deletes expired cache entries, at most so many; returns how many went. */
export async function deleteExpiredEntries(database: Database, atMost: number): Promise<number> {
  const { rows } = await sql<{ deleted: number }>`select delete_expired_entries(${atMost}::integer) as deleted`.execute(
    database.queries,
  )
  return rows[0]?.deleted ?? 0
}
