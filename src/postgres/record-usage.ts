/** Records usage: requests and their sums, and their contents. */
import { nowIso, nowMs } from '../event-loop/clock.ts'
import { call } from './call.ts'
import type { Database } from './database.ts'
import { inPartitions } from './upkeep.ts'
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
  ['error_code', 'text'],
  ['error_message', 'text'],
  ['upstream_status', 'smallint'],
  ['upstream_message', 'text'],
  ['attempts', 'smallint'],
  ['asked_model', 'text'],
  ['fallbacks', 'text'],
  ['cache_reason', 'text'],
  ['cache_id', 'text'],
  ['similarity', 'real'],
  ['completion_tokens_saved', 'integer'],
  ['admission_ms', 'real'],
  ['lookup_ms', 'real'],
  ['embed_ms', 'real'],
  ['upstream_ms', 'real'],
  ['first_chunk_ms', 'real'],
  ['end_user', 'text'],
  ['provider_keys', 'text'],
  ['presumed', 'boolean'],
]

const RECORD_USAGE = `select model_proxy.record_usage(
    ${COLUMNS.map(([, type], i) => `$${i + 1}::text::${type}[]`).join(', ')},
    $${COLUMNS.length + 1}::text::jsonb[], $${COLUMNS.length + 2}::text::integer[],
    $${COLUMNS.length + 3}::json, $${COLUMNS.length + 4}::text::json, $${COLUMNS.length + 5}::uuid
  ) as now`

/** Idempotent: records with the same `batch`, a UUID, are written once. Returns what time it is at the database. */
export function recordUsage(database: Database, records: readonly UsageRecord[], batch: string): Promise<Date> {
  return inPartitions(database, hasStepped => write(database, hasStepped ? records.map(redate) : records, batch))
}

async function write(database: Database, records: readonly UsageRecord[], batch: string): Promise<Date> {
  const columns = COLUMNS.map(([name]) => formatArray(records, name))
  const [told] = await database.call<{ now: Date }>(RECORD_USAGE, [
    ...columns,
    ...formatTags(records),
    JSON.stringify(sumUsage(records)),
    spendingOf(records),
    batch,
  ])
  if (!told) throw new Error('record_usage() returned nothing')
  return told.now
}

const AHEAD_MS = 2_000
/** No record waits for that long. */
const BEHIND_MS = 31 * 86_400_000

/** A time that cannot be was told by a clock that was put right since: the record is of now. */
function redate(record: UsageRecord): UsageRecord {
  const ageMs = nowMs() - Date.parse(record.recorded_at)
  return ageMs >= -AHEAD_MS && ageMs <= BEHIND_MS ? record : { ...record, recorded_at: nowIso() }
}

/** What budgets have to know; null for nothing. The database decides which of them it concerns: they may be newer than the request. */
function spendingOf(records: readonly UsageRecord[]): string | null {
  const spent = records.flatMap(({ spent: parts = [], project_id, key_id, tags, recorded_at }) =>
    parts.map(part => ({
      ...part,
      project_id,
      key_id,
      tags: tags === null ? null : JSON.parse(tags),
      at: recorded_at,
    })),
  )
  return spent.length === 0 ? null : JSON.stringify(spent)
}

function formatArray(records: readonly UsageRecord[], column: keyof UsageRecord): string {
  // unnest() fills up short arrays: what no record has costs nothing.
  return records.every(record => record[column] === null) ? '{}' : writeArray(records.map(record => record[column]))
}

/**
 * As PostgreSQL's array text, which both drivers pass on and the server parses faster than JSON. JSON.stringify is the fastest writer, and
 * differs only in the brackets. It would also escape control characters differently, but records contain none.
 */
function writeArray(values: readonly unknown[]): string {
  return `{${JSON.stringify(values).slice(1, -1)}}`
}

/** The tags that there are, and for each record which of them it has, 0 for none: parsing them anew costs more than the rest of the row. */
function formatTags(records: readonly UsageRecord[]): [tags: string, at: string] {
  const places = new Map<string, number>()
  const at = records.map(({ tags }) => {
    if (tags === null) return 0
    const place = places.get(tags) ?? places.size + 1
    places.set(tags, place)
    return place
  })
  return [writeArray([...places.keys()]), places.size === 0 ? '{}' : writeArray(at)]
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
  const { project_id, key_id, endpoint, model, provider, cache_result, status, tags } = record
  return `${key_id}\n${project_id}\n${quarterOf(record)}\n${endpoint}\n${provider}\n${cache_result}\n${classOf(status)}\n${bucket}\n${tags}\n${model}`
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
    bucket,
    tags: tags === null ? null : JSON.parse(tags),
  }
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

/** What a request said and got. */
export interface SealedContent extends Pick<UsageRecord, 'recorded_at' | 'project_id' | 'key_id' | 'request_id'> {
  /** In hex, as the response. */
  sealedRequest: string | null
  sealedResponse: string | null
}

export function recordContents(database: Database, contents: readonly SealedContent[]): Promise<void> {
  return inPartitions(database, () =>
    call(database, 'record_contents', {
      recorded_ats: contents.map(content => content.recorded_at),
      project_ids: contents.map(content => content.project_id),
      key_ids: contents.map(content => content.key_id),
      request_ids: contents.map(content => content.request_id),
      sealed_requests: contents.map(content => content.sealedRequest),
      sealed_responses: contents.map(content => content.sealedResponse),
    }),
  )
}
