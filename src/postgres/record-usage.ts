/** Records requests, their usage sums and their contents, also when a clock steps. */
import { nowIso, nowMs } from '../event-loop/clock.ts'
import { callFunction } from './call.ts'
import { type Database, sqlStateOf } from './database.ts'
import { syncDatabaseTime } from './sync-database-time.ts'
import type { CostPart, UsageRecord } from './usage-record.ts'

/** Writes records. Idempotent: records with the same `batch`, a UUID, are written once. Returns the database's time. */
export function recordUsage(database: Database, records: readonly UsageRecord[], batch: string): Promise<Date> {
  return withPartitions(database, hasStepped =>
    writeRecords(database, hasStepped ? records.map(redate) : records, batch),
  )
}

async function writeRecords(database: Database, records: readonly UsageRecord[], batch: string): Promise<Date> {
  // The function ignores fields that are no columns.
  return callFunction(database, 'record_usage', {
    records,
    sums: sumUsage(records),
    spending: spendingOf(records),
    batch,
  })
}

const MAX_AHEAD_MS = 2_000
/** A record never waits this long to be written. */
const MAX_BEHIND_MS = 31 * 86_400_000

/** Sets the time of a record to now if a wrong clock dated it, that is, too far in the future or the past. */
function redate(record: UsageRecord): UsageRecord {
  const ageMs = nowMs() - Date.parse(record.recorded_at)
  return ageMs >= -MAX_AHEAD_MS && ageMs <= MAX_BEHIND_MS ? record : { ...record, recorded_at: nowIso() }
}

interface BudgetCharge extends CostPart, Pick<UsageRecord, 'project_id' | 'key_id' | 'tags'> {
  at: string
}

/** Returns the charges for budgets; null for none. The database selects the budgets, which may be newer than the request. */
function spendingOf(records: readonly UsageRecord[]): BudgetCharge[] | null {
  const spent = records.flatMap(({ spent: parts = [], project_id, key_id, tags = null, recorded_at }) =>
    parts.map(part => ({ ...part, project_id, key_id, tags, at: recorded_at })),
  )
  return spent.length === 0 ? null : spent
}

/** A row of the table usage_pending. */
type UsageSum = ReturnType<typeof createSum>

/** The columns that are summed. */
const SUMMED_COLUMNS = [
  'prompt_tokens',
  'cached_prompt_tokens',
  'completion_tokens',
  'tokens_saved',
  'cost_usd',
  'saved_usd',
  'latency_ms',
  'duration_ms',
] as const

/** `find_requests` lists requests from this duration on among the slowest. */
const SLOW_MS = 1_000

/** Sums records. Records that agree in all fields that are not summed share a sum. */
export function sumUsage(records: readonly UsageRecord[]): UsageSum[] {
  const sums = new Map<string, UsageSum>()
  for (const record of records) {
    const bucket = bucketOf(record.latency_ms)
    const key = sumKeyOf(record, bucket)
    let sum = sums.get(key)
    if (!sum) {
      sum = createSum(record, bucket)
      sums.set(key, sum)
    }
    sum.requests++
    for (const column of SUMMED_COLUMNS) sum[column] += record[column]
    // The duration is rounded to the precision of the column, a real.
    if (Math.fround(record.duration_ms) >= SLOW_MS) sum.slow_requests++
  }
  return [...sums.values()]
}

function sumKeyOf(record: UsageRecord, bucket: number): string {
  const { project_id, key_id, endpoint, model, provider, cache_result, status, tags, end_user, provider_keys } = record
  return `${key_id}\n${project_id}\n${quarterOf(record)}\n${endpoint}\n${provider}\n${cache_result}\n${missReasonOf(record)}\n${classOf(status)}\n${bucket}\n${tags ? JSON.stringify(tags) : ''}\n${provider_keys ?? ''}\n${model}\n${end_user ?? ''}`
}

function createSum(record: UsageRecord, bucket: number) {
  const { project_id, key_id, endpoint, model, provider, cache_result, status, tags, end_user, provider_keys } = record
  return {
    project_id,
    at: quarterOf(record),
    key_id,
    endpoint,
    model,
    provider: provider ?? '',
    cache_result: cache_result ?? '',
    status_class: classOf(status),
    requests: 0,
    prompt_tokens: 0,
    cached_prompt_tokens: 0,
    completion_tokens: 0,
    tokens_saved: 0,
    cost_usd: 0,
    saved_usd: 0,
    latency_ms: 0,
    duration_ms: 0,
    slow_requests: 0,
    bucket,
    tags: tags ?? null,
    miss_reason: missReasonOf(record),
    end_user: end_user ?? null,
    provider_keys: provider_keys ?? null,
  }
}

function missReasonOf({ cache_result, cache_reason }: UsageRecord): string | null {
  return cache_result === 'MISS' ? (cache_reason ?? '') : null
}

const QUARTERS = ['00', '15', '30', '45']

/** Returns the start of the quarter hour. Slicing the text takes a fifth of the time that parsing and formatting takes. */
function quarterOf({ recorded_at: at }: UsageRecord): string {
  return `${at.slice(0, 14)}${QUARTERS[Math.floor(Number(at.slice(14, 16)) / 15)]}:00.000Z`
}

function classOf(status: number): number {
  return Math.floor(status / 100)
}

const MIN_LATENCY_MS = 0.01

/** Returns the bucket of latency_counts: the n for which the latency is between 2^(n/4) and 2^((n+1)/4) milliseconds. */
function bucketOf(latencyMs: number): number {
  return Math.floor(4 * Math.log2(Math.max(latencyMs, MIN_LATENCY_MS)))
}

/** The body of a request and its response, sealed: a row of request_contents. */
export interface SealedContent
  extends Pick<UsageRecord, 'recorded_at' | 'project_id' | 'key_id' | 'request_id' | 'end_user'> {
  sealed_request: string | null
  sealed_response: string | null
}

export function recordRequestContents(database: Database, contents: readonly SealedContent[]): Promise<void> {
  return withPartitions(database, () => callFunction(database, 'record_request_contents', { contents }))
}

/** SQLSTATE: check_violation. PostgreSQL raises it for a row whose time no partition has, among others. */
const CHECK_VIOLATION = '23514'

/** Runs a write to tables partitioned by time. If a partition is missing because a clock stepped, creates it and runs the write again. */
async function withPartitions<T>(database: Database, run: (hasStepped: boolean) => Promise<T>): Promise<T> {
  try {
    return await run(false)
  } catch (error) {
    if (sqlStateOf(error) !== CHECK_VIOLATION) throw error
    await callFunction(database, 'maintain_usage_partitions', {})
    await syncDatabaseTime(database)
    return run(true)
  }
}

/** Adds recent records to the sums. */
export async function rollUpUsage(database: Database): Promise<void> {
  await withPartitions(database, () => callFunction(database, 'roll_up_usage', {}))
}
