/** The admin API's responses: database rows, with ids and times in the API's form. Only fields that the pages use are listed. */
import type { BudgetRow } from '../../postgres/admin/budget-row.ts'
import type { KeyActivityRow, KeyRow } from '../../postgres/admin/key-rows.ts'
import type {
  CacheStatsRow,
  CalibrationRow,
  DeliveryRow,
  EntryRow,
  LatencyRow,
  MatchRow,
  OverviewRow,
  PlanRow,
  ProjectRow,
  ProviderKeyRow,
  QuotaRow,
  RefusalRow,
  RequestRow,
  SettingKindRow,
  ShareRow,
  SimilarityRow,
  VerdictRow,
  WebhookRow,
} from '../../postgres/admin/rows.ts'

/** A row as the API returns it: the fields `Without` are replaced by those of `As`. */
type Serialized<Row, Without extends keyof Row, As> = Omit<Row, Without> & As

export interface Page<Item> {
  data: Item[]
  has_more: boolean
  last_id: string | null
}

export type Role = ProjectRow['your_role']

export interface Session {
  user: { id: string; email: string; role: 'owner' | 'reader' }
  csrf_token: string
  /** Where clients reach the proxy; ends in /v1. */
  base_url: string
}

export type Project = Serialized<
  Pick<ProjectRow, 'id' | 'name' | 'plan' | 'created_at' | 'your_role'>,
  'id' | 'created_at',
  { id: string; status: 'active' | 'archived'; created_at: number }
>

export type ApiKey = Pick<
  KeyRow,
  'name' | 'type' | 'state' | 'requests_per_minute' | 'tokens_per_minute' | 'allowed_models' | 'allowed_addresses'
> & {
  id: string
  redacted_value: string
  created_at: number
  expires_at: number | null
  last_used_at: number | null
  former_value_of: string | null
}

export type ProviderKey = Pick<ProviderKeyRow, 'provider' | 'name' | 'weight'> & {
  redacted_value: string
  created_at: number
  updated_at: number
}

/** Who would answer a model, or what it would be refused with. */
export interface Route {
  id: string
  /** The model behind an alias; else the id. */
  model: string
  /** chat, embedding, …; null for a model that the catalogue does not have. */
  kind: string | null
  provider: string | null
  problem: { status: number; code: string; message: string } | null
}

export type Webhook = Pick<WebhookRow, 'url' | 'pending' | 'failed'> & {
  id: string
  events: string[]
  created_at: number
  disabled_at: number | null
}

export type Delivery = Pick<DeliveryRow, 'kind' | 'payload' | 'state' | 'attempts' | 'status' | 'problem'> & {
  id: string
  created_at: number
}

export type Counts = Omit<OverviewRow, 'bucket_start' | 'hit_duration_ms' | 'miss_duration_ms'>

export type Budget = Serialized<
  Pick<BudgetRow, 'id' | 'tag' | 'model' | 'unit' | 'amount' | 'per' | 'spent' | 'remaining' | 'resets_at'>,
  'id' | 'resets_at',
  { id: string; api_key_id: string | null; api_key_name: string | null; resets_at: number | null }
>

export type Share = ShareRow

export interface Overview {
  totals: Counts & { hit_rate: number | null; saved_seconds: number }
  buckets: (Counts & { start_time: number })[]
  by_model: Share[]
  by_api_key: Share[]
  by_tag: Share[]
  latency: LatencyRow[]
}

export type ProxyRequest = Serialized<
  RequestRow['record'],
  'id' | 'key_id' | 'project_id',
  { id: string; api_key_id: string; key_name: string | null; api_key_redacted_value: string | null }
>

export type CacheStats = Serialized<
  CacheStatsRow,
  'oldest_at' | 'newest_at',
  { oldest_at: number | null; newest_at: number | null }
>

export type CacheEntry = Serialized<
  EntryRow,
  'id' | 'created_at' | 'expires_at',
  { id: string; created_at: number; expires_at: number }
>

/** A semantic hit, or a near miss. */
export type CacheMatch = Serialized<
  MatchRow,
  'served_at' | 'entry_id' | 'cached_wording' | 'sealed_wording',
  { id: string; created_at: number; entry_id: string | null; wordings: Wordings | null }
>

export type CacheVerdict = Serialized<
  VerdictRow,
  'given_at' | 'one_wording' | 'other_wording',
  { id: string; created_at: number; wordings: [string | null, string | null] }
>

export interface Wordings {
  asked: string
  cached: string
  differences: WordingDifference[]
}

export interface WordingDifference {
  kind: string
  /** Whether both wordings ask the same in spite of it. */
  harmless: boolean
  asked_at: number
  asked_text: string
  cached_at: number
  cached_text: string
}

export interface Calibration {
  histogram: SimilarityRow[]
  calibration: CalibrationRow[]
}

export type SettingKind = SettingKindRow

export interface Settings {
  settings: Record<string, unknown>
  kinds: SettingKind[]
}

export interface Limits {
  plan: string
  month: string
  quotas: QuotaRow[]
  keys: (Pick<KeyActivityRow, 'name' | 'type' | 'requests_last_minute' | 'requests_per_minute'> & {
    id: string
    redacted_value: string
  })[]
}

export type Plan = PlanRow

export type Refusal = Serialized<RefusalRow, 'latest_hour', { latest_hour: number }>

/** Whether a person can log in yet; `invited_until` is in the past where an invitation has expired. */
export interface Login {
  can_log_in: boolean
  invited_until: number | null
  last_seen_at: number | null
}

export interface Member extends Login {
  id: string
  email: string
  role: Role
  added_at: number
}

export interface User extends Login {
  id: string
  email: string
  role: Session['user']['role']
  added_at: number
}

/** A browser in which the user is logged in. */
export interface OpenSession {
  id: string
  address: string
  user_agent: string
  created_at: number
  last_seen_at: number
  is_this_one: boolean
}

export interface LoginRules {
  oidc: {
    issuer: string
    allowed_domains: string[] | null
    groups_claim: string
    group_roles: { group: string; role: User['role'] }[] | null
  } | null
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
