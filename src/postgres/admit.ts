/** Calls admit(): validates keys and reserves requests against their months. */
import type { Database } from './database.ts'

export interface AdmitAsk {
  /** Hex SHA-256 of the key. */
  keyHash: string
  /** Requests to reserve; 0 validates alone. */
  wanted: number
}

/** What admit() says of one key; all but `verdict`, `granted` and `month` are null where the key is unknown. */
export interface AdmitRow {
  verdict: 'active' | 'expired' | 'disabled' | 'unknown'
  /** Requests reserved; fewer than wanted when the month's quota is used up. */
  granted: number
  key_id: number
  key_type: 'project' | 'test'
  key_prefix: string
  project_id: number
  project_name: string
  /** First day of the month that was counted in, `YYYY-MM-DD`. */
  month: string
  requests_per_minute: number
  requests_per_minute_per_address: number
  semantic_enabled: boolean
  semantic_threshold: number
  semantic_guards: boolean
  cache_ttl_seconds: number
  cache_generation: number
  /** Direct providers that the project has stored a key for. */
  direct_providers: string[]
  /** Higher after every key that was stored; 0: none is. */
  provider_keys_version: number
  /** Models that stand in, in this order, for one that cannot be reached. */
  fallbacks: string[]
}

const ADMIT = 'select * from admit($1::text[], $2::integer[])'

/** One row for each ask, in order; the asked keys must be distinct. */
export function admit(database: Database, asks: readonly AdmitAsk[]): Promise<AdmitRow[]> {
  const hashes = asks.map(ask => ask.keyHash)
  const wanted = asks.map(ask => ask.wanted)
  return database.call<AdmitRow>(ADMIT, [hashes, wanted], { isUrgent: true })
}

/** Whose a request is: key, project, limits and settings, as the database had them when it was last asked. */
export type Account = AdmitRow
