/** Sends a request that creates or changes an object. It counts, and the object is recorded before the client receives its id. */
import { createError } from '../../errors/errors.ts'
import { recordedEndUserOf } from '../../formats/end-user.ts'
import { isJsonObject, parseJsonObject } from '../../formats/json/canonical.ts'
import { NO_USAGE } from '../../formats/token-usage.ts'
import { callFunction } from '../../postgres/call.ts'
import { storageProviderName } from '../../postgres/stored-objects.ts'
import { PROVIDER_KEY_HEADER } from '../../providers/attempts.ts'
import { MAX_PLAIN_RESPONSE_BYTES, readAllBytes } from '../../providers/read-bytes.ts'
import { traitsOf } from '../../providers/stored-object-collections.ts'
import type { PassThroughBody, Provider, UpstreamResponse } from '../../providers/upstream.ts'
import { brokenResponseError } from '../../providers/upstream-failure.ts'
import type { RequestRecorder } from '../accounting/request-recorder.ts'
import type { PipelineServices } from '../context/request-context.ts'
import { claimIdsInBody } from '../ownership/claim-ids.ts'
import type { ProxyResponse } from '../request/request.ts'
import { toResponseHeaders } from '../response/complete-call.ts'
import { createMissHeaders } from '../response/response-headers.ts'
import { type CallUsage, type EstimateReason, MAX_RECORDED_TOKENS, MAX_RECORDED_USD } from '../spending/call-usage.ts'
import { applyCost } from '../spending/pass-through-usage.ts'
import type { ObjectContext } from './find-object.ts'
import { describeObject } from './record-object-state.ts'
import { sendToStorage } from './send-to-storage.ts'

/** A request whose body was read and checked, and whose cost is reserved. */
export interface PreparedRequest {
  provider: Provider
  body: PassThroughBody | null
  /** The number of requests in a new file or batch. */
  requests?: number
  /** The models of the requests in a new file or batch; null if they were not read. */
  models?: string[] | null
  /** A batch's tags as JSON, for its later usage record. */
  tags?: string | null
}

/** Counts the requests of a batch against the quota; the starting request is one of them. Refunds them if the batch does not start. */
export async function sendObjectRequest(
  context: ObjectContext,
  prepared: PreparedRequest,
  stages: PipelineServices,
): Promise<ProxyResponse> {
  if (!context.action.startsBatch) return send(context, prepared, stages)
  const keyHash = stages.admission.hashKey(context.request.authorization)
  const refund = await stages.admission.reserveQuota(keyHash, Math.max(0, (prepared.requests ?? 0) - 1))
  let isStarted = false
  try {
    const response = await send(context, prepared, stages)
    isStarted = response.status < 400
    return response
  } finally {
    if (!isStarted) refund()
  }
}

/** Returns the provider's response, including its errors. */
async function send(
  context: ObjectContext,
  prepared: PreparedRequest,
  stages: PipelineServices,
): Promise<ProxyResponse> {
  const { request, recorder, target, action } = context
  const { provider, body, requests = 0 } = prepared
  recorder.setProvider(provider)
  // A batch may have started although its response was lost. A batch that did start is charged when it has finished.
  let isSuccessful = false
  recorder.beginCall(reason =>
    action.startsBatch && requests > 0 && !isSuccessful ? estimateReserved(recorder, reason) : NO_USAGE,
  )
  // The client's signal is not used: the object is recorded even if the client has disconnected.
  const upstream = await sendToStorage(provider, request, target, { body, recordAttempt: recorder.attempts.record })
  recorder.recordResponseHead(upstream)
  const bytes = await readAllBytes(upstream.body, provider.name, MAX_PLAIN_RESPONSE_BYTES, request.responseMemory)
  isSuccessful = upstream.status < 400
  if (isSuccessful) await recordObjects(context, prepared, { upstream, text: new TextDecoder().decode(bytes) }, stages)
  recorder.recordHeadersSent()
  const usd = action.costs ? null : 0
  const usage = applyCost(NO_USAGE, usd)
  if (isSuccessful) recorder.finish({ status: upstream.status, isCounted: true, cacheResult: 'MISS', usage })
  else recorder.finishFailed({ ...upstream, body: bytes })
  return {
    status: upstream.status,
    headers: { ...toResponseHeaders(upstream), ...createMissHeaders(provider.name, usd) },
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

/** Records for the project what the response names: the created object, the file of a completed upload, and other ids. */
async function recordObjects(
  context: ObjectContext,
  { provider, body, requests = 0, models = null, tags }: PreparedRequest,
  { upstream, text }: { upstream: UpstreamResponse; text: string },
  { database }: PipelineServices,
): Promise<void> {
  const { resolvedKey, recorder, target, action } = context
  const { project_id: of_project } = resolvedKey
  const key = upstream.headers.get(PROVIDER_KEY_HEADER)
  const storageProvider = storageProviderName(provider.pricedAs ?? '', key)
  const owner = { of_project, of_provider: storageProvider }
  const object = parseJsonObject(text)
  if (action.creates) {
    const { id } = object ?? {}
    if (!object || typeof id !== 'string') throw brokenResponseError(provider.name, 'returned a response without an id')
    const about = { holds_requests: requests, models, tags: tags ? JSON.parse(tags) : null }
    const endUser = action.startsBatch && body ? recordedEndUserOf(body.fields) : null
    const row = { ...owner, object_id: id, of_collection: target.collection, ...about, asked_for: endUser }
    const reservation = action.startsBatch ? (recorder.spending?.detachReservation() ?? null) : null
    const record = async () => {
      await callFunction(database, 'upsert_stored_object', { ...row, ...describeObject(object, text) })
      // This is last: without a recorded batch, nothing would ever release the reservation.
      if (reservation !== null)
        await callFunction(database, 'retain_batch_reservation', { of_project, batch_id: id, reserved_as: reservation })
    }
    await record().catch(async error => {
      await undo(context, id, (key !== null && provider.withKey?.(key)) || provider)
      throw createError('databaseUnavailable', null, error)
    })
  }
  if (action.createsFile && isJsonObject(object?.file) && typeof object.file.id === 'string') {
    const { file } = object
    const row = { ...owner, object_id: object.file.id, of_collection: 'files' }
    await callFunction(database, 'upsert_stored_object', { ...row, ...describeObject(file, JSON.stringify(file)) })
  }
  if (traitsOf(target.collection).ownership === 'claimed' && object)
    await claimIdsInBody(text, { database, resolvedKey, storageProvider })
}

/** Deletes or cancels an object at the provider that could not be recorded. Failures are ignored. */
async function undo({ request, target, action }: ObjectContext, id: string, provider: Provider): Promise<void> {
  if (!action.creates) return
  const { method, subpath } = action.creates
  const sent = { ...request, method, search: '' }
  const undoing = sendToStorage(provider, sent, { ...target, id, subpath }, { hasSideEffects: false })
  await undoing.then(upstream => upstream.body.cancel()).catch(() => {})
}
