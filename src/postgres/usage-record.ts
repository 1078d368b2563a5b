/** What is recorded about a request, as the database keeps it. */

/** One answered, refused or failed request; the columns of usage_records. */
export interface UsageRecord extends RequestStory {
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
  /** What it took of budgets, model by model. No column. */
  spent?: SpentPart[]
}

export interface SpentPart {
  /** Under which it was reserved; null: it was not. */
  id: string | null
  model: string
  /** Null where it is not known: then it is all that was reserved, as the tokens are. */
  usd: number | null
  tokens: number | null
}

/** What else is known of a request; null where it does not apply. */
export interface RequestStory {
  /** What the client says the request is for: a JSON object of names and values, sorted by name; null for no tags. */
  tags: string | null
  /** Of the error that the client got, and what it was told if that is the proxy's own. */
  error_code: string | null
  error_message: string | null
  /** Of the first failure of an upstream: its status if it gave a bad one, and its words without the prompt's. */
  upstream_status: number | null
  upstream_message: string | null
  /** How often upstreams were asked; null: not at all. */
  attempts: number | null
  /** If a fallback answered: the model that was wanted. */
  asked_model: string | null
  /** Fallbacks that were asked, in order, with commas between them. */
  fallbacks: string | null
  /** Where the project has several keys of the provider: those that were asked, in order, with commas between them, each that was refused with the status. */
  provider_keys: string | null
  cache_reason: string | null
  /** Of the entry that was served, or nearly was. */
  cache_id: string | null
  similarity: number | null
  completion_tokens_saved: number | null
  /** From arrival to admission. */
  admission_ms: number | null
  /** In PostgreSQL and at the judge; `embed_ms` is part of it. */
  lookup_ms: number | null
  embed_ms: number | null
  /** From the upstream being asked to the head of its response. */
  upstream_ms: number | null
  /** From arrival to a stream's first chunk. */
  first_chunk_ms: number | null
  /** Whether tokens and cost are the most that they may be, because nobody knows them; null: they are known. */
  presumed: true | null
  /** Who the client says it asks for. */
  end_user: string | null
}
