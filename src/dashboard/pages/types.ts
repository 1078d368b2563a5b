/** What the admin API answers, as far as pages look at it. */

export interface Page<Item> {
  data: Item[]
  has_more: boolean
  last_id: string | null
}

export type Role = 'owner' | 'member' | 'viewer'

export interface Session {
  user: { id: string; email: string; role: 'owner' | 'reader' }
  csrf_token: string
}

export interface Project {
  id: string
  name: string
  plan: string
  status: 'active' | 'archived'
  created_at: number
  your_role: Role
}

export interface ApiKey {
  id: string
  name: string
  type: 'project' | 'test'
  state: 'active' | 'expired' | 'deactivated'
  redacted_value: string
  created_at: number
  expires_at: number | null
  last_used_at: number | null
}

export interface ProviderKey {
  provider: string
  redacted_value: string
  created_at: number
  updated_at: number
}

export interface Counts {
  requests: number
  exact_hits: number
  semantic_hits: number
  misses: number
  client_errors: number
  server_errors: number
  prompt_tokens: number
  completion_tokens: number
  tokens_saved: number
  cost_usd: number
  saved_usd: number
}

export interface Share {
  name: string
  requests: number
  hits: number
  failed: number
  tokens: number
  cost_usd: number
  saved_usd: number
}

export interface Overview {
  totals: Counts & { hit_rate: number | null; saved_seconds: number }
  buckets: (Counts & { start_time: number })[]
  by_model: Share[]
  by_api_key: Share[]
  latency: { cache_result: string; requests: number; p50_ms: number; p95_ms: number; p99_ms: number }[]
}

export interface ProxyRequest {
  id: string
  recorded_at: string
  request_id: string
  api_key_id: string
  key_name: string | null
  api_key_redacted_value: string | null
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

export interface CacheStats {
  entries: number
  bytes: number
  prompts: number
  with_vector: number
  vectors: number
  expired: number
  oldest_at: number | null
  newest_at: number | null
}

export interface CacheEntry {
  id: string
  endpoint: string
  model: string
  provider: string
  namespace: string
  created_at: number
  expires_at: number
  bytes: number
  prompt_tokens: number
  found_by: 'exact' | 'normalized' | 'similar'
}

export interface Settings {
  settings: Record<string, unknown>
}

export interface Limits {
  plan: string
  month: string
  quotas: { keys: 'project' | 'test'; used: number; quota: number; remaining: number }[]
  keys: {
    id: string
    name: string
    redacted_value: string
    type: string
    requests_last_minute: number
    requests_per_minute: number
  }[]
}

export interface Plan {
  name: string
  requests_per_minute_per_key: number
  requests_per_minute_per_address: number
  requests_per_month: number
  test_requests_per_minute: number
  test_requests_per_month: number
}

export interface Member {
  id: string
  email: string
  role: Role
  added_at: number
  invitation?: string
}

export interface AdminKey {
  id: string
  name: string
  redacted_value: string
  created_at: number
  expires_at: number | null
  last_used_at: number | null
  owner: { name: string }
}

export interface AuditEvent {
  id: string
  type: string
  effective_at: number
  project?: { id: string; name?: string }
  actor: {
    type: 'session' | 'api_key'
    session?: { user: { id: string; email: string }; ip_address?: string }
    api_key?: { id: string; user: { id: string; email: string } }
  }
}
