/**
 * `catalogue:sync`: updates the aggregator's models and prices in the catalogue from {AGGREGATOR_BASE_URL}/models, and prints the
 * differences. With --dry-run, it only prints them.
 *
 * With --source FILE|URL, it compares the prices of direct providers with a published table instead, and prints the differences for review.
 * With --apply, it updates the prices.
 */
import { parseArgs } from 'node:util'
import { fetchAggregatorModels } from '../../catalogue/fetch-aggregator-models.ts'
import { parsePublishedPrices } from '../../catalogue/published-prices.ts'
import { listVendors } from '../../catalogue/vendor-directory.ts'
import { readConfig } from '../../config/config.ts'
import { callFunction, type RowOf } from '../../postgres/call.ts'
import { withOperatorDatabase } from '../open-operator-database.ts'

const TIME_LIMIT_MS = 30_000
const FLAG = { type: 'boolean', default: false } as const

export async function run(args: readonly string[]): Promise<number> {
  const options = { 'dry-run': FLAG, source: { type: 'string' }, apply: FLAG } as const
  const { values } = parseArgs({ args: [...args], options })
  return values.source === undefined
    ? syncAggregatorModels(values['dry-run'])
    : syncPublishedPrices(values.source, !values.apply)
}

async function syncAggregatorModels(dryRun: boolean): Promise<number> {
  const config = readConfig()
  const { models, skipped } = await fetchAggregatorModels(config.aggregator)
  const { host, pathname } = new URL(config.aggregator.baseUrl)
  const source = `${host}${pathname.replace(/(?<!\/)\/+$/, '')}/models`
  const changes = await withOperatorDatabase(config, database =>
    callFunction(database, 'sync_aggregator_models', { published: models, source_address: source, dry_run: dryRun }),
  )
  printChanges(changes, `${models.length} models offered, ${skipped} without a fixed price`, dryRun)
  return 0
}

async function syncPublishedPrices(source: string, dryRun: boolean): Promise<number> {
  const table = await readTable(source).catch(error => {
    throw new Error(`${source} could not be read: ${error instanceof Error ? error.message : String(error)}`)
  })
  await withOperatorDatabase(readConfig(), async database => {
    const vendors = await listVendors(database)
    const sources = vendors.flatMap(({ name, price_sources }) =>
      [name, ...price_sources].map(known => [known, name] as const),
    )
    const prices = parsePublishedPrices(table, new Map(sources))
    const given = { published: prices, source_address: source, dry_run: dryRun }
    printChanges(await callFunction(database, 'sync_prices', given), `${prices.length} prices read`, dryRun)
  })
  return 0
}

async function readTable(source: string): Promise<unknown> {
  if (!/^https?:\/\//.test(source)) return Bun.file(source).json()
  const response = await fetch(source, { signal: AbortSignal.timeout(TIME_LIMIT_MS) })
  if (response.status !== 200) throw new Error(`status ${response.status}`)
  return response.json()
}

function printChanges(changes: readonly RowOf<'sync_prices'>[], read: string, dryRun: boolean): void {
  for (const { change, model, details } of changes) {
    process.stdout.write(details === '' ? `${change}: ${model}\n` : `${change}: ${model} (${details})\n`)
  }
  const counts = Map.groupBy(changes, ({ change }) => change)
  const summary = Array.from(counts, ([change, { length }]) => `${length} ${change}`).join(', ') || 'no differences'
  const verb = dryRun ? 'Dry run, nothing was changed' : 'Done'
  process.stdout.write(`${verb}: ${read}; ${summary}.\n`)
}
