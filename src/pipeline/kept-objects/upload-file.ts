/** Uploads a file to a provider that keeps it for the project. */
import { invalidRequest, ProxyError } from '../../errors.ts'
import { refuseUnallowed } from '../../providers/allowed-models.ts'
import type { ProxyResponse } from '../exchange.ts'
import type { KeptRoom, MakingContext } from './kept-room.ts'
import { makeObject } from './make-object.ts'
import { type BatchInput, readBatchInput } from './read-batch-input.ts'

const NO_INPUT: BatchInput = { requests: 0, models: null, references: [] }

export async function uploadFile(context: MakingContext, room: KeptRoom): Promise<ProxyResponse> {
  const { account, passed } = context
  const { form, fields } = passed
  if (!form?.parts.some(({ name, isFile }) => isFile && name === 'file')) {
    throw invalidRequest('The body of your request must be a multipart form with a file.', 'file')
  }
  const provider = room.stages.modelRouter.keeperOfFiles(account)
  if (provider instanceof ProxyError) throw provider
  const isInput = fields.purpose === 'batch'
  const { references, ...input } = isInput
    ? await readBatchInput(form, { looksForModels: account.allowed_models !== null, owner: account.project_id })
    : NO_INPUT
  const refusal = refuseUnallowed(input.models ?? [], account)
  if (refusal) throw refusal
  await room.stages.checkReferences(references, account, provider)
  return makeObject(context, { collection: 'files', provider, ...input }, room)
}
