/** Stores what a provider reports about a file or a batch: its state, the files it produced, and its final usage. */

import { costUsd } from '../../catalogue/catalogue.ts'
import { checkReportedCost } from '../../catalogue/reported-cost.ts'
import { isJsonObject, type JsonObject, parseJsonObject } from '../../formats/json/canonical.ts'
import { NO_USAGE, type TokenUsage } from '../../formats/token-usage.ts'
import type { Account } from '../../postgres/admit.ts'
import { call, callForRow } from '../../postgres/call.ts'
import type { Collection } from '../../postgres/kept-objects.ts'
import { batchSpendingId, releaseSpending } from '../../postgres/spending.ts'
import type { Provider } from '../../providers/upstream.ts'
import type { AccountedRequest } from '../accounting/create-record.ts'
import { readPassedUsage, withCost } from '../pass-through/passed-usage.ts'
import type { Stages } from '../request-context.ts'

/** A file or a batch that is asked for. */
export interface AskedBatch {
  request: AccountedRequest
  account: Account
  provider: Provider
  /** The provider and the key, as `nameKeeper` writes them. */
  keeper: string
  collection: Collection
  id: string
}

export interface ObjectReply extends AskedBatch {
  status: number
  text: string
}

/** The purpose of files that a batch has written. */
export const BATCH_OUTPUT = 'batch_output'

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

export async function noteObject(reply: ObjectReply, stages: Stages): Promise<void> {
  const { account, keeper, collection, id, status, text } = reply
  const { database } = stages
  const owner = { of_project: account.project_id, of_provider: keeper }
  const object = parseJsonObject(text)
  if (status === 404 || (status === 200 && object && isDeleted(object)))
    return call(database, 'forget_kept_object', {
      of_project: account.project_id,
      of_collection: collection,
      object_id: id,
    })
  if (status !== 200 || object?.id !== id) return
  const told = { ...owner, of_collection: collection, object_id: id, ...describeObject(object, text) }
  await call(database, 'keep_object', told)
  if (collection === 'message_batches') return releaseUnspent(object, reply, stages)
  if (collection !== 'batches') return
  for (const made of [object.output_file_id, object.error_file_id]) {
    if (typeof made !== 'string') continue
    // The file itself is fetched when it is first listed.
    const file = { ...owner, of_collection: 'files', object_id: made, for_purpose: BATCH_OUTPUT }
    await call(database, 'keep_object', file)
  }
  await recordBatch(object, reply, stages)
}

function isDeleted({ deleted, type }: JsonObject): boolean {
  return deleted === true || type === 'message_batch_deleted' || type === 'file_deleted'
}

/** States that OpenAI's batches do not leave again. */
const FINAL: ReadonlySet<unknown> = new Set(['completed', 'failed', 'expired', 'cancelled'])
/** OpenAI, Groq and Anthropic charge half of what the same requests cost one by one. */
export const BATCH_SHARE = 0.5

/** Whether it is a batch, of either form, that may still change. */
export function isUnderWay({ object, type, status, processing_status }: JsonObject): boolean {
  return object === 'batch' ? !FINAL.has(status) : type === 'message_batch' && processing_status !== 'ended'
}

/** Of a message batch that has ended without a single answer, nothing is charged. What others used is in their results. */
async function releaseUnspent(batch: JsonObject, { account, id }: AskedBatch, { database }: Stages): Promise<void> {
  if (!account.has_budgets || isUnderWay(batch)) return
  const { request_counts: counts } = batch
  if (isJsonObject(counts) && counts.succeeded === 0)
    await releaseSpending(database, [batchSpendingId(account.project_id, id)])
}

function hasRun({ request_counts: counts }: JsonObject): boolean {
  return isJsonObject(counts) && typeof counts.completed === 'number' && counts.completed > 0
}

/** Records a batch's usage once: the request that first sees it finished settles it. */
async function recordBatch(batch: JsonObject, asked: AskedBatch, stages: Stages): Promise<void> {
  const { account, provider, id } = asked
  const { database, catalogue } = stages
  if (isUnderWay(batch) || provider.pricedAs === null) return
  const model = typeof batch.model === 'string' ? batch.model : 'batches'
  const listed = catalogue.find(provider.pricedAs, model)
  const usage = checkReportedCost(readPassedUsage(batch.usage), provider, listed)
  const reservation = batchSpendingId(account.project_id, id)
  // One that failed at once has cost nothing.
  if (usage === NO_USAGE && !hasRun(batch)) {
    if (account.has_budgets) await releaseSpending(database, [reservation])
    return
  }
  if (usage === NO_USAGE && !account.has_budgets) return
  const settled = await callForRow(database, 'settle_batch', { of_project: account.project_id, batch_id: id })
  if (!settled) return
  const full = usage === NO_USAGE ? null : costUsd(listed, usage)
  const isDiscounted = usage.reportedCostUsd === null && full !== null && provider.kind !== 'aggregator'
  const usd = isDiscounted ? full * BATCH_SHARE : full
  recordSpent(asked, { model, usage, usd }, { reservation, ...settled }, stages)
}

/** What a model answered in a batch. */
export interface Spent {
  model: string
  usage: TokenUsage
  /** In US dollars; null when it is not known. */
  usd: number | null
}

/** `reservation` is what its money was reserved as; `tags` are JSON, `end_user` is whom the batch was started for. */
export function recordSpent(
  { request, account, provider, collection }: AskedBatch,
  { model, usage, usd }: Spent,
  { reservation, tags, end_user }: { reservation: string; tags: string | null; end_user: string | null },
  { accounting }: Stages,
): void {
  const recorder = accounting.open(request, account, () => {})
  recorder.setQuery({ endpoint: collection, model, stream: false, body: {} }, tags)
  recorder.set({ end_user })
  recorder.setProvider(provider)
  recorder.spending?.take(reservation)
  recorder.finish({ status: 200, counts: true, cacheResult: 'MISS', usage: withCost(usage, usd) })
}
