/** Prepares a new batch: reads its input, checks its models and references, and reserves its cost. */
import { createError, invalidRequestError, throwIfError } from '../../errors/errors.ts'
import { recordedEndUserOf } from '../../formats/end-user.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import { listModelAliases } from '../../providers/aliases.ts'
import { checkAllowedModels, hasModelAllowlist } from '../../providers/model-router.ts'
import { readPassThroughBody } from '../context/read-pass-through.ts'
import type { PipelineServices } from '../context/request-context.ts'
import { checkBatchRequests } from '../hook-checks/check-stored-objects.ts'
import { checkReferences } from '../ownership/check-references.ts'
import { readTags } from '../request/tags.ts'
import { readMessageBatch } from './batches/message-batch.ts'
import { findRecordedObject, type ObjectContext, requireVendor } from './find-object.ts'
import { reserveForBatch, reserveForFile } from './reserve-batch.ts'
import type { PreparedRequest } from './send-object-request.ts'

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
