/** Takes a file for a provider that keeps it for the project. */
import { invalidRequest, ProxyError } from '../../errors.ts'
import { refuseUnallowed } from '../../providers/allowed-models.ts'
import type { ProxyResponse } from '../exchange.ts'
import type { KeptRoom, MakingContext } from './kept-room.ts'
import { makeObject } from './make-object.ts'
import { readBatchInput } from './read-batch-input.ts'

export async function uploadFile(context: MakingContext, room: KeptRoom): Promise<ProxyResponse> {
  const { account, passed } = context
  const { form, fields } = passed
  if (!form?.parts.some(({ name, isFile }) => isFile && name === 'file')) {
    throw invalidRequest('The body of your request must be a multipart form with a file.', 'file')
  }
  const provider = room.stages.routes.keeperOfFiles(account)
  if (provider instanceof ProxyError) throw provider
  const isInput = fields.purpose === 'batch'
  const input = isInput ? await readBatchInput(form, account.allowed_models !== null) : { requests: 0, models: null }
  const refusal = refuseUnallowed(input.models ?? [], account)
  if (refusal) throw refusal
  return makeObject(context, { collection: 'files', provider, ...input }, room)
}
