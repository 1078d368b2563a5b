/** Sums usage records by the quarter of an hour before they are written: in PostgreSQL, this would cost a quarter of writing them. */
import type { UsageRecord } from './usage-record.ts'

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
  }
  return [...sums.values()]
}

function nameSum(record: UsageRecord, bucket: number): string {
  const { project_id, key_id, endpoint, model, provider, cache_result, status } = record
  return `${key_id}\n${project_id}\n${quarterOf(record)}\n${endpoint}\n${provider}\n${cache_result}\n${classOf(status)}\n${bucket}\n${model}`
}

function openSum(record: UsageRecord, bucket: number) {
  const { project_id, key_id, endpoint, model, provider, cache_result, status } = record
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
    bucket,
  }
}

const QUARTER_MS = 15 * 60_000

function quarterOf({ recorded_at }: UsageRecord): string {
  const at = Date.parse(recorded_at)
  return new Date(at - (at % QUARTER_MS)).toISOString()
}

function classOf(status: number): number {
  return Math.floor(status / 100)
}

const LEAST_LATENCY_MS = 0.01

/** As in latency_counts: the n for which the latency lies from 2^(n/4) to 2^((n+1)/4) milliseconds. */
function bucketOf(latencyMs: number): number {
  return Math.floor(4 * Math.log2(Math.max(latencyMs, LEAST_LATENCY_MS)))
}
