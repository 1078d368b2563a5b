/** Reads the model catalogue. */
import type { Database } from './database.ts'

export interface CatalogueModel {
  /** openai, anthropic, groq, or aggregator. */
  provider: string
  model: string
  kind: 'chat' | 'completion' | 'embedding'
  inputUsdPerMillion: number
  /** Null: as input. */
  cachedInputUsdPerMillion: number | null
  outputUsdPerMillion: number
}

export async function listModels(database: Database): Promise<CatalogueModel[]> {
  const rows = await database.queries
    .selectFrom('models')
    .select([
      'provider',
      'model',
      'kind',
      'input_usd_per_million',
      'cached_input_usd_per_million',
      'output_usd_per_million',
    ])
    .execute()
  return rows.map(row => ({
    provider: row.provider,
    model: row.model,
    kind: row.kind as CatalogueModel['kind'],
    inputUsdPerMillion: Number(row.input_usd_per_million),
    cachedInputUsdPerMillion:
      row.cached_input_usd_per_million === null ? null : Number(row.cached_input_usd_per_million),
    outputUsdPerMillion: Number(row.output_usd_per_million),
  }))
}
