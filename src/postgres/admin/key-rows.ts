/** Keys of projects, as JSON. Apart from the calls, because the dashboard's pages use them in the browser. */

export interface KeyRow {
  id: number
  prefix: string
  type: 'project' | 'test'
  name: string
  state: 'active' | 'expired' | 'deactivated'
  created_at: string
  expires_at: string | null
  deactivated_at: string | null
  last_used_at: string | null
  /** The key's own limits; null for none. */
  requests_per_minute: number | null
  tokens_per_minute: number | null
  allowed_models: string[] | null
  allowed_addresses: string[] | null
  /** Of a former value, the key for which it stands. */
  replaced_by: number | null
}

export interface KeyActivityRow {
  key_id: number
  name: string
  prefix: string
  type: 'project' | 'test'
  requests_last_minute: number
  requests_per_minute: number
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
