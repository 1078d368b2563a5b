/** Reads the model catalogue from the database. */
import type { Database } from './database.ts'

/** Prices in US dollars per million tokens. */
export interface TokenPrices {
  inputUsdPerMillion: number
  /** Null if the input price applies. */
  cachedInputUsdPerMillion: number | null
  /** Null if the input price applies. */
  cacheWriteUsdPerMillion: number | null
  /** The price of tokens that the provider caches for an hour; null if `cacheWriteUsdPerMillion` applies. */
  cacheWriteHourUsdPerMillion: number | null
  outputUsdPerMillion: number
}

/** Prices that replace the model's own if the response has this tier and the request has more than `abovePromptTokens` prompt tokens. */
export interface ConditionalPrices extends TokenPrices {
  tier: string
  abovePromptTokens: number
}

/** Priced units other than text tokens: tokens of audio and images, calls of the provider's tools, and the request itself. */
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
  /** The provider, such as `openai`, or `aggregator`. */
  provider: string
  model: string
  kind: 'chat' | 'completion' | 'embedding' | 'image' | 'moderation' | 'rerank' | 'speech' | 'transcription'
  /** The size of the context window in tokens; null if the vendor does not publish it. */
  contextTokens: number | null
  maxOutputTokens: number | null
  /** The kinds of input and features that a request may use besides text. */
  capabilities: string[]
  conditionalPrices: readonly ConditionalPrices[]
  /** Prices in US dollars per million tokens, or per search or request. Without a price, tokens cost as text, and other units nothing. */
  unitPrices: Readonly<Partial<Record<PricedUnit, number>>>
  /** True if a response was longer than its request allowed, or the vendor keeps no limit. */
  exceedsLimits: boolean
  /** True if the provider still lists the model. */
  listed: boolean
  /** The day on which the provider retires the model, `YYYY-MM-DD`; null if none is known. */
  retiresOn: string | null
  /** The model that the provider recommends instead; null if none is known. */
  successor: string | null
  /** The day on which the price was read, `YYYY-MM-DD`. */
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
      m.exceeded_limit_at is not null or v.honours_output_limit is false as "exceedsLimits",
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
    left join model_proxy.vendors v on v.name = m.provider
) entry`

export async function listModels(database: Database): Promise<CatalogueModel[]> {
  const rows = await database.call<{ model: CatalogueModel }>(LIST_MODELS, [])
  return rows.map(({ model }) => model)
}
