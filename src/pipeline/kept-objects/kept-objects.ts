/** Files and batches that providers keep, as their projects see them. Creating one counts as a request; reading does not. */
import { hashBearerKey } from '../../admission/api-key.ts'
import type { Collection } from '../../providers/operations.ts'
import type { ProxyRequest, ProxyResponse } from '../exchange.ts'
import { readPassedBody } from '../pass-through/read-passed-body.ts'
import { type AskedObject, askObject } from './ask-object.ts'
import type { KeptRoom } from './kept-room.ts'
import { listObjects } from './list-objects.ts'
import { startBatch } from './start-batch.ts'
import { uploadFile } from './upload-file.ts'

export interface KeptObjects {
  /** Throws what admission throws, and 400, 404, 413, 415, 502 to 504. */
  make(request: ProxyRequest, collection: Collection): Promise<ProxyResponse>
  /** Throws 401, 403, 404, 429, 502 to 504. */
  ask(request: ProxyRequest, asked: AskedObject): Promise<ProxyResponse>
  /** Throws 400, 401, 403, 404, 429, 503. */
  list(request: ProxyRequest, asked: { collection: Collection; search: URLSearchParams }): Promise<ProxyResponse>
}

export function createKeptObjects(room: KeptRoom): KeptObjects {
  const { admission, accounting: accounts, largeBodies } = room.stages
  const authenticate = (request: ProxyRequest) => admission.authenticate(hashBearerKey(request.authorization), request)

  return {
    async make(request, collection) {
      const keyHash = hashBearerKey(request.authorization)
      const { account, leave } = await admission.admit(keyHash, request.address, null)
      const accounting = accounts.open(request, account, leave)
      try {
        accounting.noteQuery({ endpoint: collection, model: collection, stream: false, body: {} })
        const { passed, references } = await readPassedBody(request, collection === 'files', largeBodies)
        const context = { request, keyHash, account, accounting, passed, references }
        return await (collection === 'files' ? uploadFile(context, room) : startBatch(context, room))
      } catch (error) {
        accounting.finishFailed(error)
        throw error
      }
    },
    ask: async (request, asked) => askObject(request, await authenticate(request), asked, room),
    list: async (request, asked) => listObjects(request, await authenticate(request), asked, room),
  }
}
