/** Calls sync_aggregator_models(): brings the catalogue up to date with the aggregator's list. */
import type { Database } from './database.ts'
import { defineStatement, runStatement, text } from './statement.ts'

export interface ModelChange {
  change: 'added' | 'back' | 'changed' | 'gone' | 'left alone'
  model: string
  /** The difference, in words. */
  details: string
}

export interface ModelSync {
  /** Objects with the column names of `models`. */
  models: readonly object[]
  /** Where the list was read. */
  source: string
  /** Reports the changes without making them. */
  dryRun: boolean
}

const SYNC_MODELS = defineStatement('select * from sync_aggregator_models($1::text::json, $2::text, $3::boolean)', {
  change: text<ModelChange['change']>(),
  model: text(),
  details: text(),
})

export function syncAggregatorModels(
  database: Database,
  { models, source, dryRun }: ModelSync,
): Promise<ModelChange[]> {
  return runStatement(database, SYNC_MODELS, [JSON.stringify(models), source, dryRun])
}
