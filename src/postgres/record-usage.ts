/** Calls record_usage() and its maintenance functions. */
import type { Database } from './database.ts'
import { bigint, defineStatement, nothing, readOne, runStatement, timestamp } from './statement.ts'
import { sumUsage } from './sum-usage.ts'
import type { UsageRecord } from './usage-record.ts'

/** In the order of record_usage()'s parameters. */
const COLUMNS: readonly [keyof UsageRecord, string][] = [
  ['recorded_at', 'timestamptz'],
  ['request_id', 'text'],
  ['project_id', 'bigint'],
  ['key_id', 'bigint'],
  ['endpoint', 'text'],
  ['model', 'text'],
  ['provider', 'text'],
  ['cache_result', 'text'],
  ['status', 'smallint'],
  ['streamed', 'boolean'],
  ['prompt_tokens', 'integer'],
  ['cached_prompt_tokens', 'integer'],
  ['completion_tokens', 'integer'],
  ['tokens_saved', 'integer'],
  ['cost_usd', 'numeric'],
  ['saved_usd', 'numeric'],
  ['latency_ms', 'real'],
  ['duration_ms', 'real'],
]

const RECORD_USAGE = defineStatement(
  `select record_usage(
    ${COLUMNS.map(([, type], i) => `$${i + 1}::text::${type}[]`).join(', ')},
    $${COLUMNS.length + 1}::json, $${COLUMNS.length + 2}::uuid
  ) as now`,
  { now: timestamp },
)
const MAINTAIN_PARTITIONS = defineStatement('select maintain_usage_partitions() as done', { done: nothing })
const ROLL_UP = defineStatement('select roll_up_usage() as summed', { summed: bigint })
const FORGET_BATCHES = defineStatement('select forget_batches() as done', { done: nothing })

/** Idempotent: records with the same `batch`, a UUID, are written once. Returns what time it is at the database. */
export async function recordUsage(database: Database, records: readonly UsageRecord[], batch: string): Promise<Date> {
  const columns = COLUMNS.map(([name]) => formatArray(records, name))
  const { now } = await readOne(database, RECORD_USAGE, [...columns, JSON.stringify(sumUsage(records)), batch])
  return now
}

/**
 * Formats one column as PostgreSQL's array text, which both drivers pass on and the server parses faster than JSON. JSON.stringify is the
 * fastest writer, and differs only in the brackets. It would also escape control characters differently, but records contain none.
 */
function formatArray(records: readonly UsageRecord[], column: keyof UsageRecord): string {
  return `{${JSON.stringify(records.map(record => record[column])).slice(1, -1)}}`
}

/** Creates partitions ahead of time and drops those past retention. */
export async function maintainUsagePartitions(database: Database): Promise<void> {
  await runStatement(database, MAINTAIN_PARTITIONS)
}

/** Deletes the ids of batches too old to be sent again. */
export async function forgetBatches(database: Database): Promise<void> {
  await runStatement(database, FORGET_BATCHES)
}

/** Adds recent records to the sums. */
export async function rollUpUsage(database: Database): Promise<void> {
  await runStatement(database, ROLL_UP)
}
