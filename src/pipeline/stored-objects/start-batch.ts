/** Prepares a new batch: reads its input, checks its models and references, and reserves its requests' cost. */
import type { CostBound } from '../../admission/budgets.ts'
import { createError, invalidRequestError, throwIfError } from '../../errors/errors.ts'
import { createYielder } from '../../event-loop/work-scheduler.ts'
import { recordedEndUserOf } from '../../formats/end-user.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import { listModelAliases } from '../../providers/aliases.ts'
import { checkAllowedModels, hasModelAllowlist } from '../../providers/model-router.ts'
import { MAX_PLAIN_RESPONSE_BYTES, readAllBytes } from '../../providers/read-bytes.ts'
import type { Provider } from '../../providers/upstream.ts'
import { brokenResponseError } from '../../providers/upstream-failure.ts'
import { readPassThroughBody } from '../context/read-pass-through.ts'
import type { PipelineServices, RequestContext } from '../context/request-context.ts'
import { checkBatchRequests } from '../hook-checks/check-stored-objects.ts'
import { checkReferences } from '../ownership/check-references.ts'
import { readTags } from '../request/tags.ts'
import { addCostBounds, maxCost } from '../spending/max-cost.ts'
import type { RequestSize } from '../spending/max-tokens.ts'
import { readBatchInput } from './batches/batch-input.ts'
import { readMessageBatch } from './batches/message-batch.ts'
import { findRecordedObject, type ObjectContext, requireVendor } from './find-object.ts'
import { BATCH_PRICE_FACTOR } from './record-object-state.ts'
import type { PreparedRequest } from './send-object-request.ts'
import { sendToStorage } from './send-to-storage.ts'

/** Prepares a batch over one of the project's files. */
export async function prepareBatch(context: ObjectContext, stages: PipelineServices): Promise<PreparedRequest> {
  const { request, resolvedKey, target } = context
  const { database, modelRouter } = stages
  const { passThroughBody, facts } = await readPassThroughBody(request, false, resolvedKey, stages)
  // A test key gets the error that it has no files at all, rather than a 404 for this file.
  requireVendor(context, stages)
  const { input_file_id: input } = passThroughBody.fields
  if (typeof input !== 'string')
    throw invalidRequestError("Missing required parameter: 'input_file_id'.", 'input_file_id')
  if (input.includes('\0')) throw createError('nullCharacter')
  const file = await findRecordedObject(context, { ...target, collection: 'files', id: input }, stages)
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
  return { provider, body: passThroughBody, requests, models, tags }
}

/** Prepares one of Anthropic's batches, whose requests are in the body. */
export async function prepareMessageBatch(context: ObjectContext, stages: PipelineServices): Promise<PreparedRequest> {
  const { request, resolvedKey, recorder } = context
  const storageProvider = throwIfError(stages.modelRouter.findStorageProvider(resolvedKey, 'message_batches'))
  const isSizeNeeded = recorder.spending?.hasBudgets ?? false
  const input = {
    bytes: await request.body.readBytes(),
    isSizeNeeded,
    aliases: listModelAliases(resolvedKey),
  }
  const { bytes, requests, models, references, sizes } = await readMessageBatch(input, resolvedKey.project_id)
  throwIfError(checkAllowedModels(models, resolvedKey))
  const provider = await checkReferences(stages.database, references, resolvedKey, storageProvider)
  await checkBatchRequests(context, [{ bytes, errorPrefix: '' }], stages)
  if (recorder.spending?.hasBudgets) await reserveForBatch(context, provider, sizes, stages)
  const body = { bytes, contentType: 'application/json', fields: {}, form: null }
  const tags = readTags(request.headers, { body: {}, endpoint: 'message_batches' })
  return { provider, body, requests, models, tags }
}

/** Checks the file's models again: the allowed models may have changed since the upload, or another key uploaded the file. */
function checkModels(models: readonly string[] | null, resolvedKey: ResolvedKey): void {
  if (models === null) {
    throw invalidRequestError(
      'The file was uploaded before the project or its key restricted their models (allowed_models): upload it again.',
      'input_file_id',
    )
  }
  throwIfError(checkAllowedModels(models, resolvedKey))
}

/** Reserves the cost of a file's requests. The file is read again, because the budget may be newer than its upload. */
export async function reserveForFile(
  context: RequestContext,
  provider: Provider,
  fileId: string,
  stages: PipelineServices,
): Promise<void> {
  const { request, resolvedKey } = context
  const target = { collection: 'files', id: fileId, subpath: '/content' } as const
  const upstream = await sendToStorage(provider, { ...request, method: 'GET' }, target)
  const bytes = await readAllBytes(upstream.body, provider.name, MAX_PLAIN_RESPONSE_BYTES, request.responseMemory)
  if (upstream.status >= 400) throw brokenResponseError(provider.name, 'did not return the content of the input file')
  const part = { name: 'file', isFile: true, start: 0, end: bytes.length }
  const options = { isModelRequired: false, isSizeNeeded: true, owner: resolvedKey.project_id }
  const { sizes } = await readBatchInput({ bytes, parts: [part] }, options)
  await reserveForBatch(context, provider, sizes, stages)
}

const NO_COST: CostBound = { usd: 0, tokens: 0 }

/** Reserves the upper bound of the requests' cost, at the discounted price of batches, model by model. */
export async function reserveForBatch(
  { request, recorder }: RequestContext,
  provider: Provider,
  sizes: readonly RequestSize[],
  { catalogue }: PipelineServices,
): Promise<void> {
  const yieldTurn = createYielder()
  const byModel = new Map<string, CostBound>()
  for (const size of sizes) {
    const bound = maxCost(size, provider, catalogue) ?? NO_COST
    const usd = bound.usd === null ? null : bound.usd * BATCH_PRICE_FACTOR
    byModel.set(size.model, addCostBounds(byModel.get(size.model) ?? NO_COST, { ...bound, usd }))
    await yieldTurn()
  }
  recorder.setProvider(provider)
  for (const [model, bound] of byModel) await recorder.spending?.reserveMoney(model, bound, request.signal)
}
