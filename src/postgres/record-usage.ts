/** Records usage: requests and their sums, and their contents, also where a clock steps. */
import { nowIso, nowMs } from '../event-loop/clock.ts'
import { callFunction } from './call.ts'
import { type Database, sqlStateOf } from './database.ts'
import { syncDatabaseTime } from './database-maintenance.ts'
import type { CostPart, UsageRecord } from './usage-record.ts'

/** Idempotent: records with the same `batch`, a UUID, are written once. Returns what time it is at the database. */
export function recordUsage(database: Database, records: readonly UsageRecord[], batch: string): Promise<Date> {
  return inPartitions(database, hasStepped => write(database, hasStepped ? records.map(redate) : records, batch))
}

async function write(database: Database, records: readonly UsageRecord[], batch: string): Promise<Date> {
  // What is no column is passed over.
  return callFunction(database, 'record_usage', {
    records,
    sums: sumUsage(records),
    spending: spendingOf(records),
    batch,
  })
}

const AHEAD_MS = 2_000
/** No record waits for that long. */
const BEHIND_MS = 31 * 86_400_000

/** A time that cannot be was told by a clock that was put right since: the record is of now. */
function redate(record: UsageRecord): UsageRecord {
  const ageMs = nowMs() - Date.parse(record.recorded_at)
  return ageMs >= -AHEAD_MS && ageMs <= BEHIND_MS ? record : { ...record, recorded_at: nowIso() }
}

interface Spending extends CostPart, Pick<UsageRecord, 'project_id' | 'key_id' | 'tags'> {
  at: string
}

/** What budgets have to know; null for nothing. The database decides which of them it concerns: they may be newer than the request. */
function spendingOf(records: readonly UsageRecord[]): Spending[] | null {
  const spent = records.flatMap(({ spent: parts = [], project_id, key_id, tags = null, recorded_at }) =>
    parts.map(part => ({ ...part, project_id, key_id, tags, at: recorded_at })),
  )
  return spent.length === 0 ? null : spent
}

/** A row of usage_pending. */
type UsageSum = ReturnType<typeof openSum>

/** The fields that are summed. */
const ADDED = [
  'prompt_tokens',
  'cached_prompt_tokens',
  'completion_tokens',
  'tokens_saved',
  'cost_usd',
  'saved_usd',
  'latency_ms',
  'duration_ms',
] as const

/** From here on, `find_requests` lists a request among the slowest. */
const SLOW_MS = 1_000

/** One sum for all records that agree in every other field. */
export function sumUsage(records: readonly UsageRecord[]): UsageSum[] {
  const sums = new Map<string, UsageSum>()
  for (const record of records) {
    const bucket = bucketOf(record.latency_ms)
    const name = nameSum(record, bucket)
    let sum = sums.get(name)
    if (!sum) {
      sum = openSum(record, bucket)
      sums.set(name, sum)
    }
    sum.requests++
    for (const column of ADDED) sum[column] += record[column]
    // As the record has it, a real.
    if (Math.fround(record.duration_ms) >= SLOW_MS) sum.slow_requests++
  }
  return [...sums.values()]
}

function nameSum(record: UsageRecord, bucket: number): string {
  const { project_id, key_id, endpoint, model, provider, cache_result, status, tags } = record
  return `${key_id}\n${project_id}\n${quarterOf(record)}\n${endpoint}\n${provider}\n${cache_result}\n${missReasonOf(record)}\n${classOf(status)}\n${bucket}\n${tags ? JSON.stringify(tags) : ''}\n${model}`
}

function openSum(record: UsageRecord, bucket: number) {
  const { project_id, key_id, endpoint, model, provider, cache_result, status, tags } = record
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
  }
}

function missReasonOf({ cache_result, cache_reason }: UsageRecord): string | null {
  return cache_result === 'MISS' ? (cache_reason ?? '') : null
}

const QUARTERS = ['00', '15', '30', '45']

/** Cut out of the text, which costs a fifth of reading the time and writing it again. */
function quarterOf({ recorded_at: at }: UsageRecord): string {
  return `${at.slice(0, 14)}${QUARTERS[Math.floor(Number(at.slice(14, 16)) / 15)]}:00.000Z`
}

function classOf(status: number): number {
  return Math.floor(status / 100)
}

const LEAST_LATENCY_MS = 0.01

/** As in latency_counts: the n for which the latency lies from 2^(n/4) to 2^((n+1)/4) milliseconds. */
function bucketOf(latencyMs: number): number {
  return Math.floor(4 * Math.log2(Math.max(latencyMs, LEAST_LATENCY_MS)))
}

/** What a request said and got: a row of request_contents. */
export interface SealedContent
  extends Pick<UsageRecord, 'recorded_at' | 'project_id' | 'key_id' | 'request_id' | 'end_user'> {
  sealed_request: string | null
  sealed_response: string | null
}

export function recordRequestContents(database: Database, contents: readonly SealedContent[]): Promise<void> {
  return inPartitions(database, () => callFunction(database, 'record_request_contents', { contents }))
}

/** SQLSTATE of a row whose time no partition has, among others. */
const CHECK_VIOLATION = '23514'

/** Runs what writes rows by time. Where a clock has stepped, their partition may be missing: it is made, and all is run once more. */
async function inPartitions<T>(database: Database, run: (hasStepped: boolean) => Promise<T>): Promise<T> {
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
  await inPartitions(database, () => callFunction(database, 'roll_up_usage', {}))
}
