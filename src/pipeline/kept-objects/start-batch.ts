/** Starts a batch over one of the project's files. It counts as many requests as the file holds. */
import { invalidRequest, ProxyError, refuse } from '../../errors.ts'
import type { Account } from '../../postgres/admit.ts'
import { findKeptObject } from '../../postgres/kept-objects.ts'
import { refuseUnallowed } from '../../providers/allowed-models.ts'
import type { ProxyResponse } from '../exchange.ts'
import { noSuchObject } from './kept-errors.ts'
import type { KeptRoom, MakingContext } from './kept-room.ts'
import { makeObject } from './make-object.ts'

export async function startBatch(context: MakingContext, room: KeptRoom): Promise<ProxyResponse> {
  const { account, keyHash, passed, references } = context
  const { stages, database } = room
  // A test key learns that it has no files at all, rather than that this file is not its own.
  const anybody = stages.modelRouter.keeperOfFiles(account)
  if (account.key_type === 'test' && anybody instanceof ProxyError) throw anybody
  const { input_file_id: input } = passed.fields
  if (typeof input !== 'string') throw invalidRequest("Missing required parameter: 'input_file_id'.", 'input_file_id')
  if (input.includes('\0')) throw refuse('unstorableText')
  const file = await findKeptObject(database, account.project_id, 'files', input)
  if (!file) throw noSuchObject('files', input)
  // The requests of a file with another purpose were neither counted nor checked for references.
  if (file.requests === 0) {
    throw invalidRequest(
      'input_file_id must be a file of requests, one a line, that was uploaded with purpose "batch".',
      'input_file_id',
    )
  }
  const provider = stages.modelRouter.keeperOfFiles(account, file.provider)
  if (provider instanceof ProxyError) throw provider
  await stages.checkReferences(references, account, provider)
  if (account.allowed_models !== null) checkModels(file.models, account)
  // The request that starts the batch counts as one of them.
  const giveBack = await stages.admission.admitMore(keyHash, Math.max(0, file.requests - 1))
  let isStarted = false
  try {
    const response = await makeObject(
      context,
      { collection: 'batches', provider, requests: file.requests, models: file.models },
      room,
    )
    isStarted = response.status < 400
    return response
  } finally {
    if (!isStarted) giveBack()
  }
}

/** The project may have restricted its models since the upload. */
function checkModels(models: readonly string[] | null, account: Account): void {
  if (models === null) {
    throw invalidRequest(
      'The file was made before the project narrowed its models (allowed_models): upload it again.',
      'input_file_id',
    )
  }
  const refusal = refuseUnallowed(models, account)
  if (refusal) throw refusal
}
