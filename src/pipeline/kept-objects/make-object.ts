/** Has a provider create a file or a batch, and binds it to the project before its client learns the id. */
import { hashBearerKey } from '../../admission/api-key.ts'
import type { CostBound } from '../../admission/budgets.ts'
import { invalidRequest, ProxyError, refuse } from '../../errors/errors.ts'
import { createYieldTurn } from '../../event-loop/turns.ts'
import { recordedUserOf } from '../../formats/end-user.ts'
import { parseJsonObject } from '../../formats/json/canonical.ts'
import { NO_USAGE } from '../../formats/token-usage.ts'
import type { Account } from '../../postgres/admit.ts'
import { call, callForRow } from '../../postgres/call.ts'
import { type Collection, nameKeeper } from '../../postgres/kept-objects.ts'
import { listAliases } from '../../providers/aliases.ts'
import { PROVIDER_KEY } from '../../providers/balanced.ts'
import { isNarrowed, refuseUnallowed } from '../../providers/model-router.ts'
import { COLLECTION_PATHS, type NamedVendor } from '../../providers/operations.ts'
import { MAX_PLAIN_BYTES, readAll } from '../../providers/read-bytes.ts'
import type { PassedBody, Provider } from '../../providers/upstream.ts'
import { broken } from '../../providers/upstream-failure.ts'
import type { RequestRecorder } from '../accounting/request-recorder.ts'
import { checkRequests } from '../checks/check-kept.ts'
import { passedOn } from '../complete-call.ts'
import { readPassedBody } from '../pass-through/read-passed.ts'
import type { ProxyResponse } from '../request.ts'
import type { RequestContext, Stages } from '../request-context.ts'
import { missHeaders } from '../response-headers.ts'
import { addCostBounds, maxCost } from '../spending/max-cost.ts'
import type { RequestSize } from '../spending/max-tokens.ts'
import { type EstimateReason, MOST_TOKENS, MOST_USD, type SpentUsage } from '../spending/spent-usage.ts'
import { readTags } from '../tags.ts'
import { isKeptBy, noSuchObject, orThrow, passTo } from './ask-object.ts'
import { type BatchInput, readBatchInput } from './batch-input.ts'
import { checkReferences } from './check-references.ts'
import { BATCH_SHARE, describeObject } from './note-object.ts'
import { readMessageBatch } from './read-message-batch.ts'

/** Starts a batch over one of the project's files. It counts as many requests as the file holds. */
export async function startBatch(
  context: RequestContext,
  stages: Stages,
  vendor?: NamedVendor,
): Promise<ProxyResponse> {
  const { request, account } = context
  const { database, modelRouter } = stages
  const { passed, references } = await readPassedBody(request, false, account, stages)
  // A test key learns that it has no files at all, rather than that this file is not its own.
  const anybody = modelRouter.keeperOfObjects(account, 'batches', { vendor })
  if ((account.key_type === 'test' || vendor !== undefined) && anybody instanceof ProxyError) throw anybody
  const { input_file_id: input } = passed.fields
  if (typeof input !== 'string') throw invalidRequest("Missing required parameter: 'input_file_id'.", 'input_file_id')
  if (input.includes('\0')) throw refuse('unstorableText')
  const named = { of_project: account.project_id, of_collection: 'files', object_id: input }
  const file = await callForRow(database, 'find_kept_object', named)
  if (!file || !isKeptBy(file, vendor)) throw noSuchObject('files', input)
  // The requests of a file with another purpose were neither counted nor checked for references.
  if (file.requests === 0) {
    throw invalidRequest(
      'input_file_id must be a file of requests, one a line, that was uploaded with purpose "batch".',
      'input_file_id',
    )
  }
  const provider = orThrow(modelRouter.keeperOfObjects(account, 'batches', { as: file.provider }))
  await checkReferences(database, references, account, provider)
  if (isNarrowed(account)) checkModels(file.models, account)
  const tags = readTags(request.headers, { body: passed.fields, endpoint: 'batches' })
  context.recorder.setQuery(context.query, tags)
  context.recorder.set({ end_user: recordedUserOf(passed.fields) })
  if (context.recorder.spending?.hasBudgets) await reserveForFile(context, provider, input, stages)
  const { requests, models } = file
  return makeBatch(context, { collection: 'batches', provider, passed, requests, models, tags }, stages)
}

/** Starts one of Anthropic's batches, whose requests are in the body. It counts as many requests as it holds. */
export async function startMessageBatch(context: RequestContext, stages: Stages): Promise<ProxyResponse> {
  const { request, account, recorder } = context
  const keeper = orThrow(stages.modelRouter.keeperOfObjects(account, 'message_batches'))
  const looksForSize = recorder.spending?.hasBudgets ?? false
  const input = { bytes: await request.body.readBytes(), looksForSize, aliases: listAliases(account) }
  const { bytes, requests, models, references, sizes } = await readMessageBatch(input, account.project_id)
  const refusal = refuseUnallowed(models, account)
  if (refusal) throw refusal
  const provider = await checkReferences(stages.database, references, account, keeper)
  await checkRequests(context, [{ bytes, where: '' }], stages)
  if (recorder.spending?.hasBudgets) await reserveForBatch(context, provider, sizes, stages)
  const passed = { bytes, contentType: 'application/json', fields: {}, form: null }
  const tags = readTags(request.headers, { body: {}, endpoint: 'message_batches' })
  return makeBatch(context, { collection: 'message_batches', provider, passed, requests, models, tags }, stages)
}

/** Counts the batch's requests; the one that starts it counts as one of them. What is not started is given back. */
async function makeBatch(context: RequestContext, batch: ObjectToMake, stages: Stages): Promise<ProxyResponse> {
  const keyHash = hashBearerKey(context.request.authorization)
  const giveBack = await stages.admission.admitMore(keyHash, Math.max(0, batch.requests - 1))
  let isStarted = false
  try {
    const response = await makeObject(context, batch, stages)
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
  stages: Stages,
): Promise<void> {
  const { request, account } = context
  const asked = { method: 'GET' as const, path: `/files/${file}/content`, body: null, headers: request.headers }
  const signal = new AbortController().signal
  const answer = await passTo(provider, { ...asked, leavesTrace: false, isDownload: true, signal })
  const bytes = await readAll(answer.body, provider.name, MAX_PLAIN_BYTES, request.held)
  if (answer.status >= 400) throw broken(provider.name, 'does not give the content of the input file')
  const part = { name: 'file', isFile: true, start: 0, end: bytes.length }
  const options = { mustNameModels: false, looksForSize: true, owner: account.project_id }
  const { sizes } = await readBatchInput({ bytes, parts: [part] }, options)
  await reserveForBatch(context, provider, sizes, stages)
}

const NOTHING: CostBound = { usd: 0, tokens: 0 }

/** Reserves what the requests may cost at half the price, model by model. */
async function reserveForBatch(
  { request, recorder }: RequestContext,
  provider: Provider,
  sizes: readonly RequestSize[],
  { catalogue }: Stages,
): Promise<void> {
  const yieldTurn = createYieldTurn()
  const byModel = new Map<string, CostBound>()
  for (const size of sizes) {
    const most = maxCost(size, provider, catalogue) ?? NOTHING
    const usd = most.usd === null ? null : most.usd * BATCH_SHARE
    byModel.set(size.model, addCostBounds(byModel.get(size.model) ?? NOTHING, { ...most, usd }))
    await yieldTurn()
  }
  recorder.setProvider(provider)
  for (const [model, largest] of byModel) await recorder.spending?.reserveMoney(model, largest, request.signal)
}

/** They may have been narrowed since the upload, or another key's may be wider. */
function checkModels(models: readonly string[] | null, account: Account): void {
  if (models === null) {
    throw invalidRequest(
      'The file was made before the project or its key narrowed their models (allowed_models): upload it again.',
      'input_file_id',
    )
  }
  const refusal = refuseUnallowed(models, account)
  if (refusal) throw refusal
}

interface ObjectToMake extends Pick<BatchInput, 'requests'> {
  collection: Collection
  /** Of a batch's input; null when it need not name them. */
  models: string[] | null
  provider: Provider
  passed: PassedBody
  /** Of a batch, as JSON, for the record of what it will have used. */
  tags?: string | null
}

/** Returns the provider's response, including its errors. */
export async function makeObject(
  { request, account, recorder }: RequestContext,
  { collection, provider, passed, requests, models, tags }: ObjectToMake,
  { database }: Stages,
): Promise<ProxyResponse> {
  recorder.setProvider(provider)
  // A batch may have begun though its answer was lost; one that was begun is accounted for when it is over.
  let isMade = false
  recorder.beginCall(reason =>
    requests > 0 && collection !== 'files' && !isMade ? estimateReserved(recorder, reason) : NO_USAGE,
  )
  const path = COLLECTION_PATHS[collection]
  const asked = { method: 'POST' as const, path, body: passed, headers: request.headers, leavesTrace: true }
  // Not the client's signal: the object is bound to its project even if the client has left.
  const answer = await passTo(provider, { ...asked, isDownload: false, signal: new AbortController().signal })
  recorder.recordResponseHead(answer)
  const bytes = await readAll(answer.body, provider.name, MAX_PLAIN_BYTES, request.held)
  isMade = answer.status < 400
  if (isMade) {
    const text = new TextDecoder().decode(bytes)
    const object = parseJsonObject(text)
    if (typeof object?.id !== 'string') throw broken(provider.name, 'gave an answer without an id')
    const { id } = object
    const keeper = nameKeeper(provider.pricedAs ?? '', answer.headers.get(PROVIDER_KEY))
    const kept = {
      of_project: account.project_id,
      object_id: id,
      of_collection: collection,
      of_provider: keeper,
      ...describeObject(object, text),
      holds_requests: requests,
      models,
      tags: tags ? JSON.parse(tags) : null,
      asked_for: recordedUserOf(passed.fields),
    }
    const reservation = recorder.spending?.leave() ?? null
    async function keep(): Promise<void> {
      const batch = { of_project: account.project_id, batch_id: id }
      await call(database, 'keep_object', kept)
      // Last: without a batch, nothing would ever release it.
      if (reservation !== null) await call(database, 'keep_spending', { ...batch, reserved_as: reservation })
    }
    await keep().catch(async error => {
      const key = answer.headers.get(PROVIDER_KEY)
      await undo((key !== null && provider.withKey?.(key)) || provider, collection, id, request.headers)
      throw refuse('databaseUnavailable', null, error)
    })
  }
  recorder.recordHeadersReady()
  if (isMade) recorder.finish({ status: answer.status, counts: true, cacheResult: 'MISS', usage: NO_USAGE })
  else recorder.finishFailed({ ...answer, body: bytes })
  return { status: answer.status, headers: { ...passedOn(answer), ...missHeaders(provider.name, 0) }, body: bytes }
}

function estimateReserved({ spending }: RequestRecorder, reason: EstimateReason): SpentUsage {
  const { usd = null, tokens = null } = spending?.reserved ?? {}
  return {
    ...NO_USAGE,
    reportedCostUsd: 0,
    isUnpriced: usd === null,
    estimate: { reason, doubtfulUsd: usd ?? MOST_USD, doubtfulTokens: tokens ?? MOST_TOKENS },
  }
}

/** Deletes, as far as possible, an object at the provider that could not be bound to its project. */
async function undo(provider: Provider, collection: Collection, id: string, headers: Headers): Promise<void> {
  const path = `${COLLECTION_PATHS[collection]}/${id}`
  const asked =
    COLLECTION_PATHS[collection] === COLLECTION_PATHS.files
      ? { method: 'DELETE' as const, path }
      : { method: 'POST' as const, path: `${path}/cancel` }
  const signal = new AbortController().signal
  const undone = passTo(provider, { ...asked, body: null, headers, leavesTrace: false, isDownload: false, signal })
  await undone.then(answer => answer.body.cancel()).catch(() => {})
}
