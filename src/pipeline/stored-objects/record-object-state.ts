/** Records what a provider reports about an object: its state and, of a batch, its output files and its final usage. */

import { computeCostUsd } from '../../catalogue/catalogue.ts'
import { omitImplausibleCost } from '../../catalogue/reported-cost.ts'
import { isJsonObject, type JsonObject, parseJsonObject } from '../../formats/json/canonical.ts'
import { NO_USAGE, type TokenUsage } from '../../formats/token-usage.ts'
import { callFunction, callFunctionForRow } from '../../postgres/call.ts'
import { batchReservationId, releaseSpending } from '../../postgres/spending.ts'
import type { PipelineServices } from '../context/request-context.ts'
import { applyCost, readPassThroughUsage } from '../spending/pass-through-usage.ts'
import type { FoundObjectContext } from './find-object.ts'

/** The purpose of a batch's output files. */
export const BATCH_OUTPUT_PURPOSE = 'batch_output'

/** Returns the columns that lists show of the object. */
export function describeObject(object: JsonObject, text: string) {
  const { purpose } = object
  return { object: text, for_purpose: typeof purpose === 'string' ? purpose : null, expires_at: expiryOf(object) }
}

/** Returns a file's expiry, in OpenAI's or Anthropic's format. A batch's `expires_at` limits its run, not its storage. */
function expiryOf({ object, type, expires_at: end }: JsonObject): Date | null {
  if (object === 'file' && typeof end === 'number') return readDate(end * 1000)
  return type === 'file' && typeof end === 'string' ? readDate(end) : null
}

function readDate(value: number | string): Date | null {
  const date = new Date(value)
  return Number.isNaN(date.getTime()) ? null : date
}

/** Records what the provider reports about the object: that it does not exist any more or, for a recorded object, its state. */
export async function recordObjectState(
  context: FoundObjectContext,
  { status, body }: { status: number; body: string | Uint8Array },
  stages: PipelineServices,
): Promise<void> {
  const { request, resolvedKey, target } = context
  const { database } = stages
  const { id, row } = context.object
  const of_project = resolvedKey.project_id
  const place = { of_project, of_collection: target.collection, object_id: id }
  const isDeletion = request.method === 'DELETE' && status < 400
  if (target.subpath === '' && (status === 404 || isDeletion))
    return callFunction(database, 'delete_stored_object', place)
  if (!row || status !== 200) return
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  const object = parseJsonObject(text)
  if (object?.id !== id) return
  await callFunction(database, 'upsert_stored_object', {
    ...place,
    of_provider: row.provider,
    ...describeObject(object, text),
  })
  if (target.collection === 'message_batches') return releaseUnspent(object, context, stages)
  if (target.collection !== 'batches') return
  for (const fileId of [object.output_file_id, object.error_file_id]) {
    if (typeof fileId !== 'string') continue
    // The file object is requested when it is first listed.
    const file = { of_project, of_provider: row.provider, of_collection: 'files', object_id: fileId }
    await callFunction(database, 'upsert_stored_object', { ...file, for_purpose: BATCH_OUTPUT_PURPOSE })
  }
  await recordBatch(object, context, stages)
}

/** Final states of OpenAI's batches. */
const FINAL_STATES: ReadonlySet<unknown> = new Set(['completed', 'failed', 'expired', 'cancelled'])
/** OpenAI, Groq and Anthropic charge half the price for requests in a batch. */
export const BATCH_PRICE_FACTOR = 0.5

/** Whether the object is a batch, in either vendor's format, that may still change. */
export function isBatchInProgress({ object, type, status, processing_status }: JsonObject): boolean {
  return object === 'batch' ? !FINAL_STATES.has(status) : type === 'message_batch' && processing_status !== 'ended'
}

/** Releases the reservation of a message batch that has ended without a response. Usage of other batches is in their results. */
async function releaseUnspent(batch: JsonObject, context: FoundObjectContext, stages: PipelineServices): Promise<void> {
  const { request_counts: counts } = batch
  if (!isBatchInProgress(batch) && isJsonObject(counts) && counts.succeeded === 0) await releaseBatch(context, stages)
}

/** Releases the batch's reservation, if budgets apply. */
async function releaseBatch(
  { resolvedKey, object }: FoundObjectContext,
  { database }: PipelineServices,
): Promise<void> {
  if (resolvedKey.has_budgets) await releaseSpending(database, [batchReservationId(resolvedKey.project_id, object.id)])
}

function hasRun({ request_counts: counts }: JsonObject): boolean {
  return isJsonObject(counts) && typeof counts.completed === 'number' && counts.completed > 0
}

/** Records a finished batch's usage. */
async function recordBatch(batch: JsonObject, context: FoundObjectContext, stages: PipelineServices): Promise<void> {
  const { resolvedKey, object } = context
  const { provider } = object
  if (isBatchInProgress(batch) || provider.pricedAs === null) return
  const model = typeof batch.model === 'string' ? batch.model : 'batches'
  const listed = stages.catalogue.find(provider.pricedAs, model)
  const usage = omitImplausibleCost(readPassThroughUsage(batch.usage), provider, listed)
  // A batch that failed before any request ran has cost nothing.
  if (usage === NO_USAGE && !hasRun(batch)) return releaseBatch(context, stages)
  if (usage === NO_USAGE && !resolvedKey.has_budgets) return
  const fullUsd = usage === NO_USAGE ? null : computeCostUsd(listed, usage)
  const isDiscounted = usage.reportedCostUsd === null && fullUsd !== null && provider.kind !== 'aggregator'
  const usd = isDiscounted ? fullUsd * BATCH_PRICE_FACTOR : fullUsd
  await recordBatchOnce(context, [{ model, usage, usd }], stages)
}

/** A model's usage and cost in a batch. */
export interface ModelCost {
  model: string
  usage: TokenUsage
  /** The cost in US dollars; null if unknown. */
  usd: number | null
}

/** Writes one usage record per model. Only the request that first sees the batch finished, or reads all its results, does so. */
export async function recordBatchOnce(
  context: FoundObjectContext,
  spent: readonly ModelCost[],
  stages: PipelineServices,
): Promise<void> {
  const { resolvedKey, object } = context
  const batch = { of_project: resolvedKey.project_id, batch_id: object.id }
  const settled = await callFunctionForRow(stages.database, 'claim_batch_settlement', batch)
  if (!settled) return
  if (spent.length === 0) await releaseBatch(context, stages)
  const reservation = batchReservationId(resolvedKey.project_id, object.id)
  for (const each of spent) recordBatchCost(context, each, { reservation, ...settled }, stages)
}

/** Writes the usage record. `reservation` is the reservation's id, `tags` are JSON, and `end_user` is the starting request's end user. */
function recordBatchCost(
  { request, resolvedKey, target, object }: FoundObjectContext,
  { model, usage, usd }: ModelCost,
  { reservation, tags, end_user }: { reservation: string; tags: string | null; end_user: string | null },
  { accounting }: PipelineServices,
): void {
  const recorder = accounting.open(request, resolvedKey, () => {})
  recorder.setQuery({ endpoint: target.collection, model, stream: false, body: {} }, tags)
  recorder.setDetails({ end_user })
  recorder.setProvider(object.provider)
  recorder.spending?.adoptReservation(reservation)
  recorder.finish({ status: 200, isCounted: true, cacheResult: 'MISS', usage: applyCost(usage, usd) })
}
