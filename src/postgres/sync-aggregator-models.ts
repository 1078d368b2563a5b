/** Calls sync_aggregator_models(). */
import { sql } from 'kysely'
import type { Database } from './database.ts'

export interface ModelChange {
  change: 'added' | 'back' | 'changed' | 'gone' | 'left alone'
  model: string
  /** What differs, in words. */
  details: string
}

export interface ModelSync {
  /** As the columns of `models` are named. */
  models: readonly object[]
  /** Where the list was read. */
  source: string
  /** Changes nothing. */
  dryRun: boolean
}

export async function syncAggregatorModels(
  database: Database,
  { models, source, dryRun }: ModelSync,
): Promise<ModelChange[]> {
  const { rows } = await sql<ModelChange>`select * from sync_aggregator_models(
    ${JSON.stringify(models)}::text::json, ${source}::text, ${dryRun}::boolean
  )`.execute(database.queries)
  return rows
}
