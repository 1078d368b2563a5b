/** Creates a file or a batch at a provider, and records it as the project's before the client receives its id. */

import { hashBearerKey } from '../../admission/key-validator.ts'
import { createError, invalidRequestError, ProxyError } from '../../errors/errors.ts'
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
import type { BatchInput } from './batches/batch-input.ts'
import { readMessageBatch } from './batches/message-batch.ts'
import { createObjectNotFoundError, isStoredAt, passThroughTo, throwIfError } from './forward-object-request.ts'
import { describeObject } from './record-object-state.ts'
import { reserveForBatch, reserveForFile } from './reserve-batch.ts'

/** Starts a batch over one of the project's files. Each request in the file counts. */
export async function createBatch(
  context: RequestContext,
  stages: PipelineServices,
  vendor?: ClientVendor,
): Promise<ProxyResponse> {
  const { request, resolvedKey } = context
  const { database, modelRouter } = stages
  const { passThroughBody, facts } = await readPassThroughBody(request, false, resolvedKey, stages)
  // A test key gets the error that it has no files at all, rather than a 404 for this file.
  const anyProvider = modelRouter.findStorageProvider(resolvedKey, 'batches', { vendor })
  if ((resolvedKey.key_type === 'test' || vendor !== undefined) && anyProvider instanceof ProxyError) throw anyProvider
  const { input_file_id: input } = passThroughBody.fields
  if (typeof input !== 'string')
    throw invalidRequestError("Missing required parameter: 'input_file_id'.", 'input_file_id')
  if (input.includes('\0')) throw createError('nullCharacter')
  const fileId = { of_project: resolvedKey.project_id, of_collection: 'files', object_id: input }
  const file = await callFunctionForRow(database, 'find_stored_object', fileId)
  if (!file || !isStoredAt(file, vendor)) throw createObjectNotFoundError('files', input)
  // Requests of a file with another purpose were neither counted nor checked for references.
  if (file.requests === 0) {
    throw invalidRequestError(
      'input_file_id must be a file with one request per line, uploaded with purpose "batch".',
      'input_file_id',
    )
  }
  const provider = throwIfError(modelRouter.findStorageProvider(resolvedKey, 'batches', { providerId: file.provider }))
  await checkReferences(database, facts.references, resolvedKey, provider)
  if (hasModelAllowlist(resolvedKey)) checkModels(file.models, resolvedKey)
  const tags = readTags(request.headers, { body: passThroughBody.fields, endpoint: 'batches' })
  context.recorder.setQuery(context.query, tags)
  context.recorder.setDetails({ end_user: recordedEndUserOf(passThroughBody.fields) })
  if (context.recorder.spending?.hasBudgets) await reserveForFile(context, provider, input, stages)
  const { requests, models } = file
  return startBatch(context, { collection: 'batches', provider, body: passThroughBody, requests, models, tags }, stages)
}

/** Starts one of Anthropic's batches, whose requests are in the body. Each of them counts. */
export async function createMessageBatch(context: RequestContext, stages: PipelineServices): Promise<ProxyResponse> {
  const { request, resolvedKey, recorder } = context
  const storageProvider = throwIfError(stages.modelRouter.findStorageProvider(resolvedKey, 'message_batches'))
  const isSizeNeeded = recorder.spending?.hasBudgets ?? false
  const input = {
    bytes: await request.body.readBytes(),
    isSizeNeeded,
    aliases: listModelAliases(resolvedKey),
  }
  const { bytes, requests, models, references, sizes } = await readMessageBatch(input, resolvedKey.project_id)
  const rejection = checkAllowedModels(models, resolvedKey)
  if (rejection) throw rejection
  const provider = await checkReferences(stages.database, references, resolvedKey, storageProvider)
  await checkBatchRequests(context, [{ bytes, errorPrefix: '' }], stages)
  if (recorder.spending?.hasBudgets) await reserveForBatch(context, provider, sizes, stages)
  const body = { bytes, contentType: 'application/json', fields: {}, form: null }
  const tags = readTags(request.headers, { body: {}, endpoint: 'message_batches' })
  return startBatch(context, { collection: 'message_batches', provider, body, requests, models, tags }, stages)
}

/** Counts the batch's requests against the quota; the starting request is one of them. Refunds them if the batch does not start. */
async function startBatch(
  context: RequestContext,
  batch: ObjectToCreate,
  stages: PipelineServices,
): Promise<ProxyResponse> {
  const keyHash = hashBearerKey(context.request.authorization)
  const refund = await stages.admission.reserveQuota(keyHash, Math.max(0, batch.requests - 1))
  let isStarted = false
  try {
    const response = await createObject(context, batch, stages)
    isStarted = response.status < 400
    return response
  } finally {
    if (!isStarted) refund()
  }
}

/** Checks the file's models again: the allowed models may have changed since the upload, or another key uploaded the file. */
function checkModels(models: readonly string[] | null, resolvedKey: ResolvedKey): void {
  if (models === null) {
    throw invalidRequestError(
      'The file was uploaded before the project or its key restricted their models (allowed_models): upload it again.',
      'input_file_id',
    )
  }
  const rejection = checkAllowedModels(models, resolvedKey)
  if (rejection) throw rejection
}

interface ObjectToCreate extends Pick<BatchInput, 'requests'> {
  collection: ObjectCollection
  /** The models of a batch's input; null if the input need not name them. */
  models: string[] | null
  provider: Provider
  body: PassThroughBody
  /** A batch's tags as JSON, for its later usage record. */
  tags?: string | null
}

/** Returns the provider's response, including its errors. */
export async function createObject(
  { request, resolvedKey, recorder }: RequestContext,
  { collection, provider, body, requests, models, tags }: ObjectToCreate,
  { database }: PipelineServices,
): Promise<ProxyResponse> {
  recorder.setProvider(provider)
  // A batch may have started although its response was lost. A batch that did start is charged when it has finished.
  let isCreated = false
  recorder.beginCall(reason =>
    requests > 0 && collection !== 'files' && !isCreated ? estimateReserved(recorder, reason) : NO_USAGE,
  )
  const path = COLLECTION_PATHS[collection]
  const target = { method: 'POST' as const, path, body, headers: request.headers, hasSideEffects: true }
  // The client's signal is not used: the object is recorded even if the client has disconnected.
  const upstream = await passThroughTo(provider, { ...target, isDownload: false, signal: new AbortController().signal })
  recorder.recordResponseHead(upstream)
  const bytes = await readAllBytes(upstream.body, provider.name, MAX_PLAIN_RESPONSE_BYTES, request.responseMemory)
  isCreated = upstream.status < 400
  if (isCreated) {
    const text = new TextDecoder().decode(bytes)
    const object = parseJsonObject(text)
    if (typeof object?.id !== 'string') throw brokenResponseError(provider.name, 'returned a response without an id')
    const { id } = object
    const storageProvider = storageProviderName(provider.pricedAs ?? '', upstream.headers.get(PROVIDER_KEY_HEADER))
    const row = {
      of_project: resolvedKey.project_id,
      object_id: id,
      of_collection: collection,
      of_provider: storageProvider,
      ...describeObject(object, text),
      holds_requests: requests,
      models,
      tags: tags ? JSON.parse(tags) : null,
      asked_for: recordedEndUserOf(body.fields),
    }
    const reservation = recorder.spending?.detachReservation() ?? null
    async function record(): Promise<void> {
      const batch = { of_project: resolvedKey.project_id, batch_id: id }
      await callFunction(database, 'upsert_stored_object', row)
      // This is last: without a recorded batch, nothing would ever release the reservation.
      if (reservation !== null)
        await callFunction(database, 'retain_batch_reservation', { ...batch, reserved_as: reservation })
    }
    await record().catch(async error => {
      const key = upstream.headers.get(PROVIDER_KEY_HEADER)
      await deleteUnrecorded((key !== null && provider.withKey?.(key)) || provider, collection, id, request.headers)
      throw createError('databaseUnavailable', null, error)
    })
  }
  recorder.recordHeadersSent()
  if (isCreated) recorder.finish({ status: upstream.status, isCounted: true, cacheResult: 'MISS', usage: NO_USAGE })
  else recorder.finishFailed({ ...upstream, body: bytes })
  return {
    status: upstream.status,
    headers: { ...toResponseHeaders(upstream), ...createMissHeaders(provider.name, 0) },
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

/** Deletes an object, or cancels a batch, at the provider that could not be recorded. Failures are ignored. */
async function deleteUnrecorded(
  provider: Provider,
  collection: ObjectCollection,
  id: string,
  headers: Headers,
): Promise<void> {
  const path = `${COLLECTION_PATHS[collection]}/${id}`
  const target =
    COLLECTION_PATHS[collection] === COLLECTION_PATHS.files
      ? { method: 'DELETE' as const, path }
      : { method: 'POST' as const, path: `${path}/cancel` }
  const signal = new AbortController().signal
  const deletion = passThroughTo(provider, {
    ...target,
    body: null,
    headers,
    hasSideEffects: false,
    isDownload: false,
    signal,
  })
  await deletion.then(upstream => upstream.body.cancel()).catch(() => {})
}
