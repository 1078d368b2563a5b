/** Has a provider create a file or a batch, and binds it to the project before its client learns the id. */

import type { CostBound } from '../../admission/budgets.ts'
import { hashBearerKey } from '../../admission/key-validator.ts'
import { createError, invalidRequestError, ProxyError } from '../../errors/errors.ts'
import { createYielder } from '../../event-loop/work-scheduler.ts'
import { recordedEndUserOf } from '../../formats/end-user.ts'
import { parseJsonObject } from '../../formats/json/canonical.ts'
import { NO_USAGE } from '../../formats/token-usage.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import { callFunction, callFunctionForRow } from '../../postgres/call.ts'
import { type ObjectCollection, storageProviderName } from '../../postgres/stored-objects.ts'
import { listModelAliases } from '../../providers/aliases.ts'
import { PROVIDER_KEY_HEADER } from '../../providers/balance-keys.ts'
import { checkAllowedModels, hasModelAllowlist } from '../../providers/model-router.ts'
import { type ClientVendor, COLLECTION_PATHS } from '../../providers/pass-through-operations.ts'
import { MAX_PLAIN_RESPONSE_BYTES, readAllBytes } from '../../providers/read-bytes.ts'
import type { PassThroughBody, Provider } from '../../providers/upstream.ts'
import { brokenResponseError } from '../../providers/upstream-failure.ts'
import type { RequestRecorder } from '../accounting/request-recorder.ts'
import { readPassThroughBody } from '../context/read-pass-through.ts'
import type { PipelineServices, RequestContext } from '../context/request-context.ts'
import { checkBatchRequests } from '../hook-checks/check-stored-objects.ts'
import { checkReferences } from '../ownership/check-references.ts'
import type { ProxyResponse } from '../request/request.ts'
import { readTags } from '../request/tags.ts'
import { toResponseHeaders } from '../response/complete-call.ts'
import { createMissHeaders } from '../response/response-headers.ts'
import { type CallUsage, type EstimateReason, MAX_RECORDED_TOKENS, MAX_RECORDED_USD } from '../spending/call-usage.ts'
import { addCostBounds, maxCost } from '../spending/max-cost.ts'
import type { RequestSize } from '../spending/max-tokens.ts'
import { type BatchInput, readBatchInput } from './batches/batch-input.ts'
import { readMessageBatch } from './batches/message-batch.ts'
import { createObjectNotFoundError, isStoredAt, passThroughTo, throwIfError } from './forward-object-request.ts'
import { BATCH_PRICE_FACTOR, describeObject } from './record-object-state.ts'

/** Starts a batch over one of the project's files. It counts as many requests as the file holds. */
export async function createBatch(
  context: RequestContext,
  stages: PipelineServices,
  vendor?: ClientVendor,
): Promise<ProxyResponse> {
  const { request, resolvedKey } = context
  const { database, modelRouter } = stages
  const { passThroughBody, references } = await readPassThroughBody(request, false, resolvedKey, stages)
  // A test key learns that it has no files at all, rather than that this file is not its own.
  const anybody = modelRouter.findStorageProvider(resolvedKey, 'batches', { vendor })
  if ((resolvedKey.key_type === 'test' || vendor !== undefined) && anybody instanceof ProxyError) throw anybody
  const { input_file_id: input } = passThroughBody.fields
  if (typeof input !== 'string')
    throw invalidRequestError("Missing required parameter: 'input_file_id'.", 'input_file_id')
  if (input.includes('\0')) throw createError('nullCharacter')
  const named = { of_project: resolvedKey.project_id, of_collection: 'files', object_id: input }
  const file = await callFunctionForRow(database, 'find_stored_object', named)
  if (!file || !isStoredAt(file, vendor)) throw createObjectNotFoundError('files', input)
  // The requests of a file with another purpose were neither counted nor checked for references.
  if (file.requests === 0) {
    throw invalidRequestError(
      'input_file_id must be a file of requests, one a line, that was uploaded with purpose "batch".',
      'input_file_id',
    )
  }
  const provider = throwIfError(modelRouter.findStorageProvider(resolvedKey, 'batches', { providerId: file.provider }))
  await checkReferences(database, references, resolvedKey, provider)
  if (hasModelAllowlist(resolvedKey)) checkModels(file.models, resolvedKey)
  const tags = readTags(request.headers, { body: passThroughBody.fields, endpoint: 'batches' })
  context.recorder.setQuery(context.query, tags)
  context.recorder.setDetails({ end_user: recordedEndUserOf(passThroughBody.fields) })
  if (context.recorder.spending?.hasBudgets) await reserveForFile(context, provider, input, stages)
  const { requests, models } = file
  return makeBatch(
    context,
    { collection: 'batches', provider, passed: passThroughBody, requests, models, tags },
    stages,
  )
}

/** Starts one of Anthropic's batches, whose requests are in the body. It counts as many requests as it holds. */
export async function createMessageBatch(context: RequestContext, stages: PipelineServices): Promise<ProxyResponse> {
  const { request, resolvedKey, recorder } = context
  const keeper = throwIfError(stages.modelRouter.findStorageProvider(resolvedKey, 'message_batches'))
  const looksForSize = recorder.spending?.hasBudgets ?? false
  const input = {
    bytes: await request.body.readBytes(),
    isSizeNeeded: looksForSize,
    aliases: listModelAliases(resolvedKey),
  }
  const { bytes, requests, models, references, sizes } = await readMessageBatch(input, resolvedKey.project_id)
  const refusal = checkAllowedModels(models, resolvedKey)
  if (refusal) throw refusal
  const provider = await checkReferences(stages.database, references, resolvedKey, keeper)
  await checkBatchRequests(context, [{ bytes, errorPrefix: '' }], stages)
  if (recorder.spending?.hasBudgets) await reserveForBatch(context, provider, sizes, stages)
  const passed = { bytes, contentType: 'application/json', fields: {}, form: null }
  const tags = readTags(request.headers, { body: {}, endpoint: 'message_batches' })
  return makeBatch(context, { collection: 'message_batches', provider, passed, requests, models, tags }, stages)
}

/** Counts the batch's requests; the one that starts it counts as one of them. What is not started is given back. */
async function makeBatch(
  context: RequestContext,
  batch: ObjectToMake,
  stages: PipelineServices,
): Promise<ProxyResponse> {
  const keyHash = hashBearerKey(context.request.authorization)
  const giveBack = await stages.admission.reserveQuota(keyHash, Math.max(0, batch.requests - 1))
  let isStarted = false
  try {
    const response = await createObject(context, batch, stages)
    isStarted = response.status < 400
    return response
  } finally {
    if (!isStarted) giveBack()
  }
}

/** The file is read again, because a budget may be newer than it. */
async function reserveForFile(
  context: RequestContext,
  provider: Provider,
  file: string,
  stages: PipelineServices,
): Promise<void> {
  const { request, resolvedKey } = context
  const asked = { method: 'GET' as const, path: `/files/${file}/content`, body: null, headers: request.headers }
  const signal = new AbortController().signal
  const answer = await passThroughTo(provider, { ...asked, hasSideEffects: false, isDownload: true, signal })
  const bytes = await readAllBytes(answer.body, provider.name, MAX_PLAIN_RESPONSE_BYTES, request.responseMemory)
  if (answer.status >= 400) throw brokenResponseError(provider.name, 'does not give the content of the input file')
  const part = { name: 'file', isFile: true, start: 0, end: bytes.length }
  const options = { isModelRequired: false, isSizeNeeded: true, owner: resolvedKey.project_id }
  const { sizes } = await readBatchInput({ bytes, parts: [part] }, options)
  await reserveForBatch(context, provider, sizes, stages)
}

const NOTHING: CostBound = { usd: 0, tokens: 0 }

/** Reserves what the requests may cost at half the price, model by model. */
async function reserveForBatch(
  { request, recorder }: RequestContext,
  provider: Provider,
  sizes: readonly RequestSize[],
  { catalogue }: PipelineServices,
): Promise<void> {
  const yieldTurn = createYielder()
  const byModel = new Map<string, CostBound>()
  for (const size of sizes) {
    const most = maxCost(size, provider, catalogue) ?? NOTHING
    const usd = most.usd === null ? null : most.usd * BATCH_PRICE_FACTOR
    byModel.set(size.model, addCostBounds(byModel.get(size.model) ?? NOTHING, { ...most, usd }))
    await yieldTurn()
  }
  recorder.setProvider(provider)
  for (const [model, largest] of byModel) await recorder.spending?.reserveMoney(model, largest, request.signal)
}

/** They may have been narrowed since the upload, or another key's may be wider. */
function checkModels(models: readonly string[] | null, resolvedKey: ResolvedKey): void {
  if (models === null) {
    throw invalidRequestError(
      'The file was made before the project or its key narrowed their models (allowed_models): upload it again.',
      'input_file_id',
    )
  }
  const refusal = checkAllowedModels(models, resolvedKey)
  if (refusal) throw refusal
}

interface ObjectToMake extends Pick<BatchInput, 'requests'> {
  collection: ObjectCollection
  /** Of a batch's input; null when it need not name them. */
  models: string[] | null
  provider: Provider
  passed: PassThroughBody
  /** Of a batch, as JSON, for the record of what it will have used. */
  tags?: string | null
}

/** Returns the provider's response, including its errors. */
export async function createObject(
  { request, resolvedKey, recorder }: RequestContext,
  { collection, provider, passed, requests, models, tags }: ObjectToMake,
  { database }: PipelineServices,
): Promise<ProxyResponse> {
  recorder.setProvider(provider)
  // A batch may have begun though its answer was lost; one that was begun is accounted for when it is over.
  let isMade = false
  recorder.beginCall(reason =>
    requests > 0 && collection !== 'files' && !isMade ? estimateReserved(recorder, reason) : NO_USAGE,
  )
  const path = COLLECTION_PATHS[collection]
  const asked = { method: 'POST' as const, path, body: passed, headers: request.headers, hasSideEffects: true }
  // Not the client's signal: the object is bound to its project even if the client has left.
  const answer = await passThroughTo(provider, { ...asked, isDownload: false, signal: new AbortController().signal })
  recorder.recordResponseHead(answer)
  const bytes = await readAllBytes(answer.body, provider.name, MAX_PLAIN_RESPONSE_BYTES, request.responseMemory)
  isMade = answer.status < 400
  if (isMade) {
    const text = new TextDecoder().decode(bytes)
    const object = parseJsonObject(text)
    if (typeof object?.id !== 'string') throw brokenResponseError(provider.name, 'gave an answer without an id')
    const { id } = object
    const keeper = storageProviderName(provider.pricedAs ?? '', answer.headers.get(PROVIDER_KEY_HEADER))
    const kept = {
      of_project: resolvedKey.project_id,
      object_id: id,
      of_collection: collection,
      of_provider: keeper,
      ...describeObject(object, text),
      holds_requests: requests,
      models,
      tags: tags ? JSON.parse(tags) : null,
      asked_for: recordedEndUserOf(passed.fields),
    }
    const reservation = recorder.spending?.detachReservation() ?? null
    async function keep(): Promise<void> {
      const batch = { of_project: resolvedKey.project_id, batch_id: id }
      await callFunction(database, 'upsert_stored_object', kept)
      // Last: without a batch, nothing would ever release it.
      if (reservation !== null)
        await callFunction(database, 'retain_batch_reservation', { ...batch, reserved_as: reservation })
    }
    await keep().catch(async error => {
      const key = answer.headers.get(PROVIDER_KEY_HEADER)
      await undo((key !== null && provider.withKey?.(key)) || provider, collection, id, request.headers)
      throw createError('databaseUnavailable', null, error)
    })
  }
  recorder.recordHeadersSent()
  if (isMade) recorder.finish({ status: answer.status, isCounted: true, cacheResult: 'MISS', usage: NO_USAGE })
  else recorder.finishFailed({ ...answer, body: bytes })
  return {
    status: answer.status,
    headers: { ...toResponseHeaders(answer), ...createMissHeaders(provider.name, 0) },
    body: bytes,
  }
}

function estimateReserved({ spending }: RequestRecorder, reason: EstimateReason): CallUsage {
  const { usd = null, tokens = null } = spending?.reserved ?? {}
  return {
    ...NO_USAGE,
    reportedCostUsd: 0,
    isUnpriced: usd === null,
    estimate: { reason, doubtfulUsd: usd ?? MAX_RECORDED_USD, doubtfulTokens: tokens ?? MAX_RECORDED_TOKENS },
  }
}

/** Deletes, as far as possible, an object at the provider that could not be bound to its project. */
async function undo(provider: Provider, collection: ObjectCollection, id: string, headers: Headers): Promise<void> {
  const path = `${COLLECTION_PATHS[collection]}/${id}`
  const asked =
    COLLECTION_PATHS[collection] === COLLECTION_PATHS.files
      ? { method: 'DELETE' as const, path }
      : { method: 'POST' as const, path: `${path}/cancel` }
  const signal = new AbortController().signal
  const undone = passThroughTo(provider, {
    ...asked,
    body: null,
    headers,
    hasSideEffects: false,
    isDownload: false,
    signal,
  })
  await undone.then(answer => answer.body.cancel()).catch(() => {})
}
