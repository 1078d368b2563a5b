/** Has a provider keep a file: whom the client speaks to, or whom the models of a batch's requests lead to, and nobody else. */
import { invalidRequest, type ProxyError } from '../../errors/errors.ts'
import type { Form } from '../../formats/read-form.ts'
import type { Account } from '../../postgres/admit.ts'
import { listAliases } from '../../providers/aliases.ts'
import { isNarrowed, refuseUnallowed } from '../../providers/model-router.ts'
import type { NamedVendor } from '../../providers/operations.ts'
import type { PassedBody } from '../../providers/upstream.ts'
import { checkRequests } from '../checks/check-kept.ts'
import { readPassedBody } from '../pass-through/read-passed.ts'
import type { ProxyResponse } from '../request.ts'
import type { RequestContext, Stages } from '../request-context.ts'
import { orThrow } from './ask-object.ts'
import { type BatchInput, readBatchInput, requestsOf } from './batch-input.ts'
import { checkReferences } from './check-references.ts'
import { makeObject } from './make-object.ts'

const NO_INPUT: BatchInput = { requests: 0, models: [], asked: [], references: [], sizes: [] }

/** A file that is a batch's input says how many requests it holds, and must name only what the project may use. */
export async function uploadFile(
  context: RequestContext,
  stages: Stages,
  vendor?: NamedVendor,
): Promise<ProxyResponse> {
  const { account } = context
  const { passed, form } = await readFile(context, stages)
  const usual = orThrow(stages.modelRouter.keeperOfObjects(account, 'files', { vendor }))
  const isInput = passed.fields.purpose === 'batch'
  const mustNameModels = isNarrowed(account)
  const { requests, models, asked, references } = isInput
    ? await readBatchInput(form, { mustNameModels, aliases: listAliases(account), owner: account.project_id })
    : NO_INPUT
  const refusal = refuseUnallowed(models, account)
  if (refusal) throw refusal
  const named = vendorOfRequests(asked, account, stages.modelRouter)
  if (named !== null && vendor !== undefined && named !== vendor) throw namesAnother(vendor, named)
  const keeper = named === null ? usual : orThrow(stages.modelRouter.keeperOfObjects(account, 'files', { as: named }))
  const provider = await checkReferences(stages.database, references, account, keeper)
  if (isInput) await checkRequests(context, requestsOf(form), stages)
  const input = { requests, models: isInput && mustNameModels ? models : null }
  return makeObject(context, { collection: 'files', provider, passed, ...input }, stages)
}

/** Anthropic's client names nobody else, and its files are no input of a batch. */
export async function uploadAnthropicFile(context: RequestContext, stages: Stages): Promise<ProxyResponse> {
  const { passed } = await readFile(context, stages)
  const provider = orThrow(stages.modelRouter.keeperOfObjects(context.account, 'anthropic_files'))
  return makeObject(context, { collection: 'anthropic_files', provider, passed, requests: 0, models: null }, stages)
}

async function readFile(
  { request, account }: RequestContext,
  stages: Stages,
): Promise<{ passed: PassedBody; form: Form }> {
  const { passed } = await readPassedBody(request, true, account, stages)
  const { form } = passed
  const files = form?.parts.filter(({ name }) => name === 'file') ?? []
  // A provider may read a text of this name in place of the file.
  if (form && files.length > 0 && files.every(({ isFile }) => isFile)) return { passed, form }
  throw invalidRequest('The body of your request must be a multipart form with a file.', 'file')
}

/** The one provider that the models of a batch's requests lead to, which gets its file; null where they lead nowhere. */
function vendorOfRequests(models: readonly string[], account: Account, router: Stages['modelRouter']): string | null {
  const named = models.flatMap(model => router.nameVendorOf(model, account) ?? [])
  const [first = null] = named
  const another = named.find(name => name !== first)
  if (another !== undefined) {
    throw invalidRequest(
      `The requests of the file name models of ${first} and of ${another}: a file goes to one provider.`,
      'file',
    )
  }
  if (first === 'anthropic') {
    throw invalidRequest(
      'The requests of the file name models of anthropic: send them to POST /v1/messages/batches.',
      'file',
    )
  }
  return first
}

function namesAnother(vendor: NamedVendor, named: string): ProxyError {
  return invalidRequest(
    `Your client speaks the API of ${vendor} (by its address or its headers), and the requests of the file name models of ${named}.`,
    'file',
  )
}
