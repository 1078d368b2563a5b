/** Prepares the upload of a file to one provider: the vendor whose API the client uses, or that of the models in a batch's requests. */
import { invalidRequestError, throwIfError } from '../../errors/errors.ts'
import type { MultipartForm } from '../../formats/multipart-form.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import { listModelAliases } from '../../providers/aliases.ts'
import { checkAllowedModels, hasModelAllowlist } from '../../providers/model-router.ts'
import type { PassThroughBody } from '../../providers/upstream.ts'
import { readPassThroughBody } from '../context/read-pass-through.ts'
import type { PipelineServices } from '../context/request-context.ts'
import { checkBatchRequests } from '../hook-checks/check-stored-objects.ts'
import { checkReferences } from '../ownership/check-references.ts'
import { type BatchInput, listBatchRequests, readBatchInput } from './batches/batch-input.ts'
import type { ObjectContext } from './find-object.ts'
import type { PreparedRequest } from './send-object-request.ts'

const NO_INPUT: BatchInput = { requests: 0, models: [], primaryModels: [], references: [], sizes: [] }

/** A batch's input is read first: its requests are counted, and may name only the project's models and objects. */
export async function prepareFile(context: ObjectContext, stages: PipelineServices): Promise<PreparedRequest> {
  const { resolvedKey, target } = context
  const { collection, vendor } = target
  const { body, form } = await readFile(context, stages)
  const defaultProvider = throwIfError(stages.modelRouter.findStorageProvider(resolvedKey, collection, { vendor }))
  // A file in Anthropic's API cannot be a batch's input.
  const isBatchInput = collection === 'files' && body.fields.purpose === 'batch'
  const isModelRequired = hasModelAllowlist(resolvedKey)
  const { requests, models, primaryModels, references } = isBatchInput
    ? await readBatchInput(form, {
        isModelRequired,
        aliases: listModelAliases(resolvedKey),
        owner: resolvedKey.project_id,
      })
    : NO_INPUT
  throwIfError(checkAllowedModels(models, resolvedKey))
  const named = findBatchProvider(primaryModels, resolvedKey, stages.modelRouter)
  if (named !== null && vendor !== undefined && named !== vendor) {
    throw invalidRequestError(
      `The base URL or headers of this request select the API of ${vendor}, but the file's requests name models of ${named}.`,
      'file',
    )
  }
  const storageProvider =
    named === null
      ? defaultProvider
      : throwIfError(stages.modelRouter.findStorageProvider(resolvedKey, 'files', { providerId: named }))
  const provider = await checkReferences(stages.database, references, resolvedKey, storageProvider)
  if (isBatchInput) await checkBatchRequests(context, listBatchRequests(form), stages)
  return { provider, body, requests, models: isBatchInput && isModelRequired ? models : null }
}

async function readFile(
  { request, resolvedKey }: ObjectContext,
  stages: PipelineServices,
): Promise<{ body: PassThroughBody; form: MultipartForm }> {
  const { passThroughBody } = await readPassThroughBody(request, true, resolvedKey, stages)
  const { form } = passThroughBody
  const files = form?.parts.filter(({ name }) => name === 'file') ?? []
  // A text field named `file` is rejected, because a provider may read it in place of the file.
  if (form && files.length > 0 && files.every(({ isFile }) => isFile)) return { body: passThroughBody, form }
  throw invalidRequestError('The body of your request must be a multipart form with a file.', 'file')
}

/** Returns the provider of all models that a batch's requests name; null if they name none. Throws a 400 for two providers. */
function findBatchProvider(
  models: readonly string[],
  resolvedKey: ResolvedKey,
  router: PipelineServices['modelRouter'],
): string | null {
  const named = models.flatMap(model => router.resolvePriceProvider(model, resolvedKey) ?? [])
  const [first = null] = named
  const another = named.find(name => name !== first)
  if (another !== undefined) {
    throw invalidRequestError(
      `The file's requests name models of ${first} and of ${another}: upload one file per provider.`,
      'file',
    )
  }
  if (first === 'anthropic') {
    throw invalidRequestError(
      "The file's requests name models of anthropic: send them to POST /v1/messages/batches.",
      'file',
    )
  }
  return first
}
