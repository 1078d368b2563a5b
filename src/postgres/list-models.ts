/** Reads the model catalogue. */
import type { Database } from './database.ts'

export interface CatalogueModel {
  /** openai, anthropic, groq, or aggregator. */
  provider: string
  model: string
  kind: 'chat' | 'completion' | 'embedding' | 'image' | 'moderation' | 'rerank' | 'speech' | 'transcription'
  /** Null when the vendor does not publish it. */
  contextTokens: number | null
  maxOutputTokens: number | null
  /** What a request may contain or ask for besides text. */
  capabilities: string[]
  inputUsdPerMillion: number
  /** Null for the input price. */
  cachedInputUsdPerMillion: number | null
  /** Null for the input price. */
  cacheWriteUsdPerMillion: number | null
  outputUsdPerMillion: number
  /** Whether the provider still offers it. */
  listed: boolean
  /** When its price was read, `YYYY-MM-DD`. */
  asOf: string
}

export async function listModels(database: Database): Promise<CatalogueModel[]> {
  const rows = await database.queries
    .selectFrom('models')
    .select([
      'provider',
      'model',
      'kind',
      'context_tokens',
      'max_output_tokens',
      'capabilities',
      'input_usd_per_million',
      'cached_input_usd_per_million',
      'cache_write_usd_per_million',
      'output_usd_per_million',
      'listed',
      'as_of',
    ])
    .execute()
  return rows.map(row => ({
    provider: row.provider,
    model: row.model,
    kind: row.kind as CatalogueModel['kind'],
    contextTokens: row.context_tokens,
    maxOutputTokens: row.max_output_tokens,
    capabilities: row.capabilities,
    inputUsdPerMillion: Number(row.input_usd_per_million),
    cacheWriteUsdPerMillion: row.cache_write_usd_per_million === null ? null : Number(row.cache_write_usd_per_million),
    cachedInputUsdPerMillion:
      row.cached_input_usd_per_million === null ? null : Number(row.cached_input_usd_per_million),
    outputUsdPerMillion: Number(row.output_usd_per_million),
    listed: row.listed,
    asOf: String(row.as_of),
  }))
}
