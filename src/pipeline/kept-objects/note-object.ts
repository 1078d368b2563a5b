/** Notes what a provider tells of a file or a batch: how it is now, what files came of it, and what it used in the end. */
import { costUsd } from '../../catalogue/cost.ts'
import { type JsonObject, parseJsonObject } from '../../json/json-object.ts'
import type { Account } from '../../postgres/admit.ts'
import { forgetKeptObject, keepObject, settleBatch } from '../../postgres/kept-objects.ts'
import type { Collection } from '../../providers/operations.ts'
import type { Provider } from '../../providers/upstream.ts'
import type { ProxyRequest } from '../exchange.ts'
import { readPassedUsage } from '../pass-through/passed-usage.ts'
import type { KeptRoom } from './kept-room.ts'

export interface Told {
  request: Pick<ProxyRequest, 'id' | 'arrivedAtMs'>
  account: Account
  provider: Provider
  collection: Collection
  id: string
  status: number
  text: string
}

/** What is listed of it. */
export function describeObject(object: JsonObject, told: string) {
  const { purpose, expires_at } = object
  // A batch's own time is how long it may run, not how long it is known.
  const expiresAt = object.object === 'file' && typeof expires_at === 'number' ? new Date(expires_at * 1000) : null
  return { object: told, purpose: typeof purpose === 'string' ? purpose : null, expiresAt }
}

export async function noteObject(told: Told, room: KeptRoom): Promise<void> {
  const { account, provider, collection, id, status, text } = told
  const { database } = room
  const projectId = account.project_id
  const object = parseJsonObject(text)
  if (status === 404 || (status === 200 && object?.deleted === true)) return forgetKeptObject(database, projectId, id)
  if (status !== 200 || object?.id !== id) return
  const keeper = provider.pricedAs ?? ''
  await keepObject(database, { projectId, id, collection, provider: keeper, ...describeObject(object, text) })
  if (collection !== 'batches') return
  for (const made of [object.output_file_id, object.error_file_id]) {
    if (typeof made !== 'string') continue
    // How it looks is asked for when it is listed.
    const file = { projectId, id: made, collection: 'files' as const, provider: keeper, purpose: 'batch_output' }
    await keepObject(database, { ...file, object: null })
  }
  await recordBatch(object, told, room)
}

/** States in which a batch stays. */
export const FINAL: ReadonlySet<unknown> = new Set(['completed', 'failed', 'expired', 'cancelled'])
/** OpenAI and Groq ask half of what the same requests cost one by one. */
const BATCH_DISCOUNT = 0.5

/** What it used is told once, by whoever first sees that it is over. */
async function recordBatch(batch: JsonObject, { request, account, provider, id }: Told, room: KeptRoom): Promise<void> {
  const usage = readPassedUsage(batch.usage)
  if (!usage || !FINAL.has(batch.status) || provider.pricedAs === null) return
  const { stages, database } = room
  if (!(await settleBatch(database, account.project_id, id))) return
  const model = typeof batch.model === 'string' ? batch.model : 'batches'
  const full = costUsd(stages.catalogue.find(provider.pricedAs, model), usage)
  const isDiscounted = usage.reportedCostUsd === null && full !== null && provider.kind !== 'aggregator'
  const cost = isDiscounted ? full * BATCH_DISCOUNT : full
  const accounting = stages.accounting.open(request, account, () => {})
  accounting.noteQuery({ endpoint: 'batches', model, stream: false, body: {} })
  accounting.finish({
    status: 200,
    counts: true,
    cacheResult: 'MISS',
    provider: provider.name,
    pricedAs: provider.pricedAs,
    usage: { ...usage, reportedCostUsd: cost },
  })
}
