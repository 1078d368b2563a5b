/** What is recorded about a request, as the database keeps it. */

/** One answered, refused or failed request; the columns of usage_records. */
export interface UsageRecord {
  /** ISO 8601. */
  recorded_at: string
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
  /** What the client says the request is for: a JSON object of names and values, sorted by name; null for no tags. */
  tags: string | null
}
