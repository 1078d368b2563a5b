/** Stores what a provider reports about a file or a batch: its state, the files it produced, and its final usage. */

import { computeCostUsd } from '../../catalogue/catalogue.ts'
import { omitImplausibleCost } from '../../catalogue/reported-cost.ts'
import { isJsonObject, type JsonObject, parseJsonObject } from '../../formats/json/canonical.ts'
import { NO_USAGE, type TokenUsage } from '../../formats/token-usage.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import { callFunction, callFunctionForRow } from '../../postgres/call.ts'
import { batchReservationId, releaseSpending } from '../../postgres/spending.ts'
import type { ObjectCollection } from '../../postgres/stored-objects.ts'
import type { Provider } from '../../providers/upstream.ts'
import type { RequestMetadata } from '../accounting/create-record.ts'
import type { PipelineServices } from '../context/request-context.ts'
import { applyCost, readPassThroughUsage } from '../spending/pass-through-usage.ts'

/** A file or a batch that is asked for. */
export interface ObjectOwner {
  request: RequestMetadata
  resolvedKey: ResolvedKey
  provider: Provider
  /** The provider and the key, as `storageProviderName` writes them. */
  keeper: string
  collection: ObjectCollection
  id: string
}

export interface ObjectState extends ObjectOwner {
  status: number
  text: string
}

/** The purpose of files that a batch has written. */
export const BATCH_OUTPUT_PURPOSE = 'batch_output'

/** What lists show of the object. */
export function describeObject(object: JsonObject, text: string) {
  const { purpose } = object
  return { object: text, for_purpose: typeof purpose === 'string' ? purpose : null, expires_at: endOf(object) }
}

/** Of a file, in OpenAI's form or Anthropic's. A batch's `expires_at` limits its run, not how long its record is kept. */
function endOf({ object, type, expires_at: end }: JsonObject): Date | null {
  if (object === 'file' && typeof end === 'number') return readDate(end * 1000)
  return type === 'file' && typeof end === 'string' ? readDate(end) : null
}

function readDate(given: number | string): Date | null {
  const date = new Date(given)
  return Number.isNaN(date.getTime()) ? null : date
}

export async function recordObjectState(reply: ObjectState, stages: PipelineServices): Promise<void> {
  const { resolvedKey, keeper, collection, id, status, text } = reply
  const { database } = stages
  const owner = { of_project: resolvedKey.project_id, of_provider: keeper }
  const object = parseJsonObject(text)
  if (status === 404 || (status === 200 && object && isDeleted(object)))
    return callFunction(database, 'delete_stored_object', {
      of_project: resolvedKey.project_id,
      of_collection: collection,
      object_id: id,
    })
  if (status !== 200 || object?.id !== id) return
  const told = { ...owner, of_collection: collection, object_id: id, ...describeObject(object, text) }
  await callFunction(database, 'upsert_stored_object', told)
  if (collection === 'message_batches') return releaseUnspent(object, reply, stages)
  if (collection !== 'batches') return
  for (const made of [object.output_file_id, object.error_file_id]) {
    if (typeof made !== 'string') continue
    // The file itself is fetched when it is first listed.
    const file = { ...owner, of_collection: 'files', object_id: made, for_purpose: BATCH_OUTPUT_PURPOSE }
    await callFunction(database, 'upsert_stored_object', file)
  }
  await recordBatch(object, reply, stages)
}

function isDeleted({ deleted, type }: JsonObject): boolean {
  return deleted === true || type === 'message_batch_deleted' || type === 'file_deleted'
}

/** States that OpenAI's batches do not leave again. */
const FINAL: ReadonlySet<unknown> = new Set(['completed', 'failed', 'expired', 'cancelled'])
/** OpenAI, Groq and Anthropic charge half of what the same requests cost one by one. */
export const BATCH_PRICE_FACTOR = 0.5

/** Whether it is a batch, of either form, that may still change. */
export function isBatchInProgress({ object, type, status, processing_status }: JsonObject): boolean {
  return object === 'batch' ? !FINAL.has(status) : type === 'message_batch' && processing_status !== 'ended'
}

/** Of a message batch that has ended without a single answer, nothing is charged. What others used is in their results. */
async function releaseUnspent(
  batch: JsonObject,
  { resolvedKey, id }: ObjectOwner,
  { database }: PipelineServices,
): Promise<void> {
  if (!resolvedKey.has_budgets || isBatchInProgress(batch)) return
  const { request_counts: counts } = batch
  if (isJsonObject(counts) && counts.succeeded === 0)
    await releaseSpending(database, [batchReservationId(resolvedKey.project_id, id)])
}

function hasRun({ request_counts: counts }: JsonObject): boolean {
  return isJsonObject(counts) && typeof counts.completed === 'number' && counts.completed > 0
}

/** Records a batch's usage once: the request that first sees it finished settles it. */
async function recordBatch(batch: JsonObject, asked: ObjectOwner, stages: PipelineServices): Promise<void> {
  const { resolvedKey, provider, id } = asked
  const { database, catalogue } = stages
  if (isBatchInProgress(batch) || provider.pricedAs === null) return
  const model = typeof batch.model === 'string' ? batch.model : 'batches'
  const listed = catalogue.find(provider.pricedAs, model)
  const usage = omitImplausibleCost(readPassThroughUsage(batch.usage), provider, listed)
  const reservation = batchReservationId(resolvedKey.project_id, id)
  // One that failed at once has cost nothing.
  if (usage === NO_USAGE && !hasRun(batch)) {
    if (resolvedKey.has_budgets) await releaseSpending(database, [reservation])
    return
  }
  if (usage === NO_USAGE && !resolvedKey.has_budgets) return
  const settled = await callFunctionForRow(database, 'claim_batch_settlement', {
    of_project: resolvedKey.project_id,
    batch_id: id,
  })
  if (!settled) return
  const full = usage === NO_USAGE ? null : computeCostUsd(listed, usage)
  const isDiscounted = usage.reportedCostUsd === null && full !== null && provider.kind !== 'aggregator'
  const usd = isDiscounted ? full * BATCH_PRICE_FACTOR : full
  recordBatchCost(asked, { model, usage, usd }, { reservation, ...settled }, stages)
}

/** What a model answered in a batch. */
export interface ModelCost {
  model: string
  usage: TokenUsage
  /** In US dollars; null when it is not known. */
  usd: number | null
}

/** `reservation` is what its money was reserved as; `tags` are JSON, `end_user` is whom the batch was started for. */
export function recordBatchCost(
  { request, resolvedKey, provider, collection }: ObjectOwner,
  { model, usage, usd }: ModelCost,
  { reservation, tags, end_user }: { reservation: string; tags: string | null; end_user: string | null },
  { accounting }: PipelineServices,
): void {
  const recorder = accounting.open(request, resolvedKey, () => {})
  recorder.setQuery({ endpoint: collection, model, stream: false, body: {} }, tags)
  recorder.setDetails({ end_user })
  recorder.setProvider(provider)
  recorder.spending?.adoptReservation(reservation)
  recorder.finish({ status: 200, isCounted: true, cacheResult: 'MISS', usage: applyCost(usage, usd) })
}
