/** Has a provider keep a file: whom the client speaks to, or whom the models of a batch's requests lead to, and nobody else. */
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

/** A file that is a batch's input says how many requests it holds, and must name only what the project may use. */
export async function uploadFile(
  context: RequestContext,
  stages: PipelineServices,
  vendor?: ClientVendor,
): Promise<ProxyResponse> {
  const { resolvedKey } = context
  const { passed, form } = await readFile(context, stages)
  const usual = throwIfError(stages.modelRouter.findStorageProvider(resolvedKey, 'files', { vendor }))
  const isInput = passed.fields.purpose === 'batch'
  const mustNameModels = hasModelAllowlist(resolvedKey)
  const { requests, models, primaryModels, references } = isInput
    ? await readBatchInput(form, {
        isModelRequired: mustNameModels,
        aliases: listModelAliases(resolvedKey),
        owner: resolvedKey.project_id,
      })
    : NO_INPUT
  const refusal = checkAllowedModels(models, resolvedKey)
  if (refusal) throw refusal
  const named = vendorOfRequests(primaryModels, resolvedKey, stages.modelRouter)
  if (named !== null && vendor !== undefined && named !== vendor) throw namesAnother(vendor, named)
  const keeper =
    named === null
      ? usual
      : throwIfError(stages.modelRouter.findStorageProvider(resolvedKey, 'files', { providerId: named }))
  const provider = await checkReferences(stages.database, references, resolvedKey, keeper)
  if (isInput) await checkBatchRequests(context, listBatchRequests(form), stages)
  const input = { requests, models: isInput && mustNameModels ? models : null }
  return createObject(context, { collection: 'files', provider, passed, ...input }, stages)
}

/** Anthropic's client names nobody else, and its files are no input of a batch. */
export async function uploadAnthropicFile(context: RequestContext, stages: PipelineServices): Promise<ProxyResponse> {
  const { passed } = await readFile(context, stages)
  const provider = throwIfError(stages.modelRouter.findStorageProvider(context.resolvedKey, 'anthropic_files'))
  return createObject(context, { collection: 'anthropic_files', provider, passed, requests: 0, models: null }, stages)
}

async function readFile(
  { request, resolvedKey }: RequestContext,
  stages: PipelineServices,
): Promise<{ passed: PassThroughBody; form: MultipartForm }> {
  const { passThroughBody } = await readPassThroughBody(request, true, resolvedKey, stages)
  const { form } = passThroughBody
  const files = form?.parts.filter(({ name }) => name === 'file') ?? []
  // A provider may read a text of this name in place of the file.
  if (form && files.length > 0 && files.every(({ isFile }) => isFile)) return { passed: passThroughBody, form }
  throw invalidRequestError('The body of your request must be a multipart form with a file.', 'file')
}

/** The one provider that the models of a batch's requests lead to, which gets its file; null where they lead nowhere. */
function vendorOfRequests(
  models: readonly string[],
  resolvedKey: ResolvedKey,
  router: PipelineServices['modelRouter'],
): string | null {
  const named = models.flatMap(model => router.resolvePriceProvider(model, resolvedKey) ?? [])
  const [first = null] = named
  const another = named.find(name => name !== first)
  if (another !== undefined) {
    throw invalidRequestError(
      `The requests of the file name models of ${first} and of ${another}: a file goes to one provider.`,
      'file',
    )
  }
  if (first === 'anthropic') {
    throw invalidRequestError(
      'The requests of the file name models of anthropic: send them to POST /v1/messages/batches.',
      'file',
    )
  }
  return first
}

function namesAnother(vendor: ClientVendor, named: string): ProxyError {
  return invalidRequestError(
    `Your client speaks the API of ${vendor} (by its address or its headers), and the requests of the file name models of ${named}.`,
    'file',
  )
}
