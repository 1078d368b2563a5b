/** The model catalogue in the database, read at the start. */
import type { Database } from './database.ts'

/** In US dollars per million tokens. */
export interface TokenPrices {
  inputUsdPerMillion: number
  /** Null for the input price. */
  cachedInputUsdPerMillion: number | null
  /** Null for the input price. */
  cacheWriteUsdPerMillion: number | null
  /** Of what the provider's cache keeps for an hour; null for the price of other writes. */
  cacheWriteHourUsdPerMillion: number | null
  outputUsdPerMillion: number
}

/** Prices that replace the model's own when an answer was of this tier, and its request had more prompt tokens. */
export interface ConditionalPrices extends TokenPrices {
  tier: string
  abovePromptTokens: number
}

/** What an answer costs apart from text: tokens of sound and pictures, calls of the provider's tools, the request. */
export type PricedUnit =
  | 'audio_input'
  | 'cached_audio_input'
  | 'audio_output'
  | 'image_input'
  | 'search'
  | 'file_search'
  | 'container'
  | 'request'

export interface CatalogueModel extends TokenPrices {
  /** openai, anthropic, groq, or aggregator. */
  provider: string
  model: string
  kind: 'chat' | 'completion' | 'embedding' | 'image' | 'moderation' | 'rerank' | 'speech' | 'transcription'
  /** Null when the vendor does not publish it. */
  contextTokens: number | null
  maxOutputTokens: number | null
  /** What a request may contain or ask for besides text. */
  capabilities: string[]
  conditionalPrices: readonly ConditionalPrices[]
  /** In US dollars: for a million tokens, or for one search or request. Without one, tokens cost as text, and others nothing. */
  unitPrices: Readonly<Partial<Record<PricedUnit, number>>>
  /** Whether a response has been longer than its request allowed. */
  exceedsLimits: boolean
  /** Whether the provider still offers it. */
  listed: boolean
  /** Day from which it does not, `YYYY-MM-DD`; null when none is known. */
  retiresOn: string | null
  /** What the provider recommends in its place; null when none is known. */
  successor: string | null
  /** When its price was read, `YYYY-MM-DD`. */
  asOf: string
}

const pricesOf = (table: string) => `${table}.input_usd_per_million as "inputUsdPerMillion",
      ${table}.cached_input_usd_per_million as "cachedInputUsdPerMillion",
      ${table}.cache_write_usd_per_million as "cacheWriteUsdPerMillion",
      ${table}.cache_write_hour_usd_per_million as "cacheWriteHourUsdPerMillion",
      ${table}.output_usd_per_million as "outputUsdPerMillion"`

const LIST_MODELS = `
select to_json(entry) as model
from (
    select m.provider, m.model, m.kind, m.context_tokens as "contextTokens", m.max_output_tokens as "maxOutputTokens",
      m.capabilities, m.listed, m.retires_on as "retiresOn", m.successor, m.as_of as "asOf",
      m.exceeded_limit_at is not null as "exceedsLimits",
      ${pricesOf('m')},
      (
        select coalesce(json_agg(c), '[]')
        from (
          select p.tier, p.above_prompt_tokens as "abovePromptTokens", ${pricesOf('p')}
          from model_proxy.model_prices p
          where p.provider = m.provider and p.model = m.model
        ) c
      ) as "conditionalPrices",
      (
        select coalesce(json_object_agg(u.unit, u.usd), '{}')
        from model_proxy.model_unit_prices u
        where u.provider = m.provider and u.model = m.model
      ) as "unitPrices"
    from model_proxy.models m
) entry`

export async function listModels(database: Database): Promise<CatalogueModel[]> {
  const rows = await database.call<{ model: CatalogueModel }>(LIST_MODELS, [])
  return rows.map(({ model }) => model)
}
