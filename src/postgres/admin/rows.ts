/** Rows that functions of the admin API return, as JSON. Imports only types, because the dashboard's pages use it in the browser. */
import type { UsageRecord } from '../usage-record.ts'

/** What requests took, and what the cache saved of it. */
interface Taken {
  bucket_start: string
  requests: number
  prompt_tokens: number
  completion_tokens: number
  tokens_saved: number
  cost_usd: number
  saved_usd: number
}

export interface UsageRow extends Taken {
  project_id: number | null
  key_id: number | null
  model: string | null
  /** Of the tag that is grouped by; null for requests without it. */
  tag_value: string | null
  cached_prompt_tokens: number
}

export interface OverviewRow extends Taken {
  exact_hits: number
  semantic_hits: number
  misses: number
  client_errors: number
  server_errors: number
  hit_duration_ms: number
  miss_duration_ms: number
}

export interface ShareRow {
  name: string
  requests: number
  hits: number
  failed: number
  tokens: number
  cost_usd: number
  saved_usd: number
}

export interface LatencyRow {
  cache_result: 'HIT' | 'HIT-SEMANTIC' | 'MISS'
  requests: number
  p50_ms: number
  p95_ms: number
  p99_ms: number
}

/** One request of a project, and the key it came with. */
export interface RequestRow {
  /** `id` is the record's own. */
  record: Omit<UsageRecord, 'tags'> & { id: string; tags: Record<string, string> | null }
  key_name: string | null
  key_prefix: string | null
}

/** In PostgreSQL's text format, `\\x` and hex. */
export interface RequestContentRow {
  sealed_request: string | null
  sealed_response: string | null
}

export interface RefusalRow {
  /** The error's code. */
  reason: string
  requests: number
  latest_hour: string
}

export interface CacheStatsRow {
  entries: number
  bytes: number
  prompts: number
  with_vector: number
  vectors: number
  expired: number
  oldest_at: string | null
  newest_at: string | null
  saveable_tokens: number
}

export interface EntryRow {
  id: number
  endpoint: string
  model: string
  provider: string
  namespace: string
  created_at: string
  expires_at: string
  bytes: number
  prompt_tokens: number
  completion_tokens: number
  found_by: 'exact' | 'normalized' | 'similar'
}

export interface MatchRow {
  request_id: string
  served_at: string
  reason: 'normalized' | 'proved' | 'judged' | 'threshold' | 'undecided'
  difference: string | null
  similarity: number
  is_shadow: boolean
  saved_usd: number
  prompt_tokens: number
  /** Null when the entry is gone. */
  entry_id: number | null
  model: string | null
  endpoint: string | null
  cached_wording: string | null
  /** Encrypted bytes in PostgreSQL's text format, `\\x` and hex. */
  sealed_wording: string | null
  verdict: 'same' | 'different' | null
  verdict_source: 'person' | 'review' | 'judge' | null
}

export interface VerdictRow {
  verdict_id: string
  verdict: 'same' | 'different'
  source: 'person' | 'review' | 'judge'
  similarity: number | null
  difference: string | null
  given_at: string
  model: string | null
  /** Null when the project stores no wordings, or the entry is gone. */
  one_wording: string | null
  other_wording: string | null
}

export interface SimilarityRow {
  at_least: number
  served: number
  stopped: number
  saved_usd: number
  missed_usd: number
  same: number
  different: number
}

export interface CalibrationRow {
  difference: string
  threshold: number
  served: number
  precision: number
  precision_low: number
  precision_high: number
}

export interface ProjectRow {
  id: number
  name: string
  plan: string
  created_at: string
  archived_at: string | null
  your_role: 'owner' | 'member' | 'viewer'
}

export interface ProviderKeyRow {
  provider: string
  last_four: string
  /** ISO 8601. */
  created: string
  updated: string
  name: string
  weight: number
}

export interface SettingKindRow {
  name: string
  type: 'choice' | 'number' | 'whole' | 'text' | 'models' | 'aliases'
  least: number | null
  most: number | null
  words: string[]
  /** What else it stands with on a page, and its name there. */
  area: string
  title: string
  help: string
  /** For each of the words of a choice: a title, a colon, and what it does. */
  choices: string[]
}

export interface WebhookRow {
  id: number
  url: string
  /** Empty: all. */
  kinds: string[]
  /** ISO 8601. */
  created_at: string
  disabled_at: string | null
  pending: number
  failed: number
}

export interface DeliveryRow {
  id: number
  webhook_id: number
  event_id: string
  kind: string
  /** ISO 8601. */
  at: string
  payload: Record<string, unknown>
  state: 'pending' | 'delivered' | 'failed'
  attempts: number
  status: number | null
  problem: string | null
  tried_at: string | null
  next_at: string | null
}

export interface PlanRow {
  name: string
  requests_per_minute_per_key: number
  requests_per_minute_per_address: number
  /** Null for any number. */
  tokens_per_minute_per_key: number | null
  requests_per_month: number
  test_requests_per_minute: number
  test_requests_per_month: number
}

export interface QuotaRow {
  keys: 'project' | 'test'
  used: number
  quota: number
  remaining: number
}

export interface SpendAlertRow {
  id: number
  /** In US dollars. */
  amount: number
  recipients: string[]
  subject_prefix: string | null
}
