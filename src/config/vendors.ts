/** A vendor: a provider that requests reach directly. Vendors are rows of the table `vendors`, which processes read at run time. */

/** Where requests contain the key: `bearer`, `none`, `header:<name>` or `query:<name>`. */
export type KeyLocation = 'bearer' | 'none' | `header:${string}` | `query:${string}`

/** What models of a vendor require of assistant messages that another model created. The column's comment describes the rules. */
export type TurnRule = 'empty_reasoning' | 'google_signatures' | 'nine_character_ids' | 'no_extras'

/** A row of the table `vendors`. The comments of its columns describe the fields. */
export interface Vendor {
  readonly name: string
  readonly title: string
  readonly base_url: string | null
  readonly format: 'openai' | 'anthropic'
  readonly endpoints: readonly ('chat' | 'completions' | 'embeddings' | 'responses' | 'messages')[]
  readonly path_template: string
  readonly key_location: KeyLocation | null
  readonly query_parameters: Readonly<Record<string, string>>
  readonly sent_headers: Readonly<Record<string, string>>
  readonly models_path: string | null
  readonly accepts_stream_options: boolean
  readonly passes: readonly string[] | null
  readonly keeps: readonly string[]
  readonly headers: readonly string[]
  readonly model_names: string | null
  readonly prefixes_models: boolean
  readonly makes_models: boolean
  readonly client_agent: string | null
  readonly price_sources: readonly string[]
  readonly source: 'seed' | 'operator'
  readonly output_limits: readonly ('max_tokens' | 'max_completion_tokens')[] | null
  readonly turn_rules: readonly TurnRule[]
  /**
   * How projects without a key of their own reach the vendor: without a key, or with the installation's key of a setting or of the database.
   * Absent: they do not.
   */
  readonly shared_access?: 'keyless' | 'setting' | 'stored'
  /** Changes with the key of the installation in the database; null without one. */
  readonly shared_key_version?: number | null
}

/** Returns what the names of the vendor's environment variables begin with, such as `OPENAI` of `OPENAI_BASE_URL`. */
export function settingPrefixOf(vendor: string): string {
  return vendor.toUpperCase().replaceAll('-', '_')
}

/** Returns the environment variable of the key that all projects use that have none of their own. */
export function apiKeyVariableOf(vendor: string): string {
  return `${settingPrefixOf(vendor)}_API_KEY`
}

/** Returns the environment variable of a vendor's base address. */
export function baseUrlVariableOf(vendor: string): string {
  return `${settingPrefixOf(vendor)}_BASE_URL`
}
