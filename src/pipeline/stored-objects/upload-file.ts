/** Uploads a file to one provider: the vendor whose API the client uses, or the provider of the models that a batch's requests name. */
import { invalidRequestError, type ProxyError } from '../../errors/errors.ts'
import type { MultipartForm } from '../../formats/multipart-form.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import { listModelAliases } from '../../providers/aliases.ts'
import { checkAllowedModels, hasModelAllowlist } from '../../providers/model-router.ts'
import type { ClientVendor } from '../../providers/pass-through-operations.ts'
import type { PassThroughBody } from '../../providers/upstream.ts'
import { readPassThroughBody } from '../context/read-pass-through.ts'
import type { PipelineServices, RequestContext } from '../context/request-context.ts'
import { checkBatchRequests } from '../hook-checks/check-stored-objects.ts'
import { checkReferences } from '../ownership/check-references.ts'
import type { ProxyResponse } from '../request/request.ts'
import { type BatchInput, listBatchRequests, readBatchInput } from './batches/batch-input.ts'
import { createObject } from './create-object.ts'
import { throwIfError } from './forward-object-request.ts'

const NO_INPUT: BatchInput = { requests: 0, models: [], primaryModels: [], references: [], sizes: [] }

/** Uploads a file. A batch's input is read first: its requests are counted, and may name only the project's models and objects. */
export async function uploadFile(
  context: RequestContext,
  stages: PipelineServices,
  vendor?: ClientVendor,
): Promise<ProxyResponse> {
  const { resolvedKey } = context
  const { body, form } = await readFile(context, stages)
  const defaultProvider = throwIfError(stages.modelRouter.findStorageProvider(resolvedKey, 'files', { vendor }))
  const isBatchInput = body.fields.purpose === 'batch'
  const isModelRequired = hasModelAllowlist(resolvedKey)
  const { requests, models, primaryModels, references } = isBatchInput
    ? await readBatchInput(form, {
        isModelRequired,
        aliases: listModelAliases(resolvedKey),
        owner: resolvedKey.project_id,
      })
    : NO_INPUT
  const rejection = checkAllowedModels(models, resolvedKey)
  if (rejection) throw rejection
  const named = findBatchProvider(primaryModels, resolvedKey, stages.modelRouter)
  if (named !== null && vendor !== undefined && named !== vendor) throw createOtherVendorError(vendor, named)
  const storageProvider =
    named === null
      ? defaultProvider
      : throwIfError(stages.modelRouter.findStorageProvider(resolvedKey, 'files', { providerId: named }))
  const provider = await checkReferences(stages.database, references, resolvedKey, storageProvider)
  if (isBatchInput) await checkBatchRequests(context, listBatchRequests(form), stages)
  const input = { requests, models: isBatchInput && isModelRequired ? models : null }
  return createObject(context, { collection: 'files', provider, body, ...input }, stages)
}

/** Uploads a file in Anthropic's API. Such a file cannot be a batch's input. */
export async function uploadAnthropicFile(context: RequestContext, stages: PipelineServices): Promise<ProxyResponse> {
  const { body } = await readFile(context, stages)
  const provider = throwIfError(stages.modelRouter.findStorageProvider(context.resolvedKey, 'anthropic_files'))
  return createObject(context, { collection: 'anthropic_files', provider, body, requests: 0, models: null }, stages)
}

async function readFile(
  { request, resolvedKey }: RequestContext,
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

function createOtherVendorError(vendor: ClientVendor, named: string): ProxyError {
  return invalidRequestError(
    `Your client uses the API of ${vendor} (by its address or its headers), but the file's requests name models of ${named}.`,
    'file',
  )
}
