/** The model catalogue in the database: read at the start, and brought up to date from the aggregator. */
import type { Database } from './database.ts'
import { defineStatement, runStatement, text } from './statement.ts'

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

/** What an answer's usage counts apart from text: tokens of sound and pictures, searches of the web, requests. */
export type PricedUnit = 'audio_input' | 'cached_audio_input' | 'audio_output' | 'image_input' | 'search' | 'request'

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
  /** Whether the provider still offers it. */
  listed: boolean
  /** Day from which it does not, `YYYY-MM-DD`; null when none is known. */
  retiresOn: string | null
  /** What the provider recommends in its place; null when none is known. */
  successor: string | null
  /** When its price was read, `YYYY-MM-DD`. */
  asOf: string
}

const PRICES = [
  'input_usd_per_million',
  'cached_input_usd_per_million',
  'cache_write_usd_per_million',
  'cache_write_hour_usd_per_million',
  'output_usd_per_million',
] as const

export async function listModels({ queries }: Database): Promise<CatalogueModel[]> {
  const [models, conditions, units] = await Promise.all([
    queries
      .selectFrom('models')
      .select(['provider', 'model', 'kind', 'context_tokens', 'max_output_tokens', 'capabilities'])
      .select(['listed', 'retires_on', 'successor', 'as_of', ...PRICES])
      .execute(),
    queries
      .selectFrom('model_prices')
      .select(['provider', 'model', 'tier', 'above_prompt_tokens', ...PRICES])
      .execute(),
    queries.selectFrom('model_unit_prices').select(['provider', 'model', 'unit', 'usd']).execute(),
  ])
  const conditionsOf = Map.groupBy(conditions, nameOf)
  const unitsOf = Map.groupBy(units, nameOf)
  return models.map(row => ({
    provider: row.provider,
    model: row.model,
    kind: row.kind as CatalogueModel['kind'],
    contextTokens: row.context_tokens,
    maxOutputTokens: row.max_output_tokens,
    capabilities: row.capabilities,
    ...readPrices(row),
    conditionalPrices: (conditionsOf.get(nameOf(row)) ?? []).map(({ tier, above_prompt_tokens, ...prices }) => ({
      tier,
      abovePromptTokens: above_prompt_tokens,
      ...readPrices(prices),
    })),
    unitPrices: Object.fromEntries((unitsOf.get(nameOf(row)) ?? []).map(({ unit, usd }) => [unit, Number(usd)])),
    listed: row.listed,
    retiresOn: row.retires_on === null ? null : String(row.retires_on),
    successor: row.successor,
    asOf: String(row.as_of),
  }))
}

function nameOf({ provider, model }: { provider: string; model: string }): string {
  return `${provider} ${model}`
}

function readPrices(row: Record<(typeof PRICES)[number], string | null>): TokenPrices {
  const price = (text: string | null) => (text === null ? null : Number(text))
  return {
    inputUsdPerMillion: Number(row.input_usd_per_million),
    cachedInputUsdPerMillion: price(row.cached_input_usd_per_million),
    cacheWriteUsdPerMillion: price(row.cache_write_usd_per_million),
    cacheWriteHourUsdPerMillion: price(row.cache_write_hour_usd_per_million),
    outputUsdPerMillion: Number(row.output_usd_per_million),
  }
}

export interface ModelChange {
  change: 'added' | 'back' | 'changed' | 'gone' | 'left alone' | 'not listed'
  model: string
  /** The difference, in words. */
  details: string
}

export interface Sync {
  /** Objects with the column names of the table. */
  offered: readonly object[]
  /** Where it was read. */
  source: string
  /** Reports the changes without making them. */
  dryRun: boolean
}

const CHANGES = { change: text<ModelChange['change']>(), model: text(), details: text() }

function defineSync(name: string) {
  const statement = defineStatement(`select * from ${name}($1::text::json, $2::text, $3::boolean)`, CHANGES)
  return (database: Database, { offered, source, dryRun }: Sync): Promise<ModelChange[]> =>
    runStatement(database, statement, [JSON.stringify(offered), source, dryRun])
}

/** Brings the aggregator's models up to date; offered are rows of `models`. */
export const syncAggregatorModels = defineSync('sync_aggregator_models')
/** Brings prices of direct providers up to date; offered are rows of `model_prices`. */
export const syncPrices = defineSync('sync_prices')
