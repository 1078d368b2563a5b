/**
 * `catalogue:sync`: brings the aggregator's models and prices in the catalogue up to date with {AGGREGATOR_BASE_URL}/models, and prints the
 * differences. With --dry-run it only prints them.
 */
import { parseArgs } from 'node:util'
import { fetchAggregatorModels } from '../../catalogue/fetch-aggregator-models.ts'
import { readConfig } from '../../config.ts'
import { syncAggregatorModels } from '../../postgres/list-models.ts'
import { withOperatorDatabase } from '../open-operator-database.ts'

export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { 'dry-run': { type: 'boolean', default: false } } })
  const dryRun = values['dry-run']
  const config = readConfig()
  const { models, skipped } = await fetchAggregatorModels(config.aggregator)
  const { host, pathname } = new URL(config.aggregator.baseUrl)
  const source = `${host}${pathname.replace(/\/+$/, '')}/models`
  const changes = await withOperatorDatabase(config, database =>
    syncAggregatorModels(database, { models, source, dryRun }),
  )
  for (const { change, model, details } of changes) {
    process.stdout.write(details === '' ? `${change}: ${model}\n` : `${change}: ${model} (${details})\n`)
  }
  const counts = Map.groupBy(changes, ({ change }) => change)
  const told = Array.from(counts, ([change, { length }]) => `${length} ${change}`).join(', ') || 'no differences'
  const verb = dryRun ? 'A dry run, nothing was changed' : 'Done'
  process.stdout.write(`${verb}: ${models.length} models offered, ${skipped} without a fixed price; ${told}.\n`)
  return 0
}
