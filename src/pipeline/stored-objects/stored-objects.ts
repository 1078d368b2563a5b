/**
 * Handles objects that providers store for projects: files, batches, responses, and OpenAI's other collections. Creating an object counts
 * as a request; reading is free.
 */
import type { ObjectCollection } from '../../postgres/stored-objects.ts'
import type { ClientVendor } from '../../providers/pass-through-operations.ts'
import type { AttemptResult, PipelineServices, RequestContext, UnsharedOperation } from '../context/request-context.ts'
import type { StoredObjectQuery } from '../request/query.ts'
import type { ProxyRequest, ProxyResponse } from '../request/request.ts'
import { createBatch, createMessageBatch } from './create-object.ts'
import { forwardObjectRequest } from './forward-object-request.ts'
import { forwardToStorageProvider } from './forward-to-storage-provider.ts'
import { listObjects } from './list-objects.ts'
import { forwardResponseRequest } from './response-by-id.ts'
import { uploadAnthropicFile, uploadFile } from './upload-file.ts'

export const storedObjectOperation: UnsharedOperation = {
  sharesCalls: false,
  read,
  serveHit: () => null,
  execute: async (context: RequestContext<StoredObjectQuery>, stages): Promise<AttemptResult> => ({
    response: await handleRequest(context, stages),
  }),
  price: () => 0,
}

/** Describes the request for its record. The body of a new object is read later, because the record does not depend on it. */
async function read({ target }: ProxyRequest): Promise<StoredObjectQuery> {
  const endpoint = 'collection' in target ? target.collection : 'responses'
  const kind = target.kind === 'kept' || target.kind === 'bound' ? target.kind : 'response'
  return { kind, endpoint, model: endpoint, stream: false, body: {} }
}

/** Handles the request by its target. Throws 400, 404, 413, 415, 429, 502 to 504. */
function handleRequest(context: RequestContext<StoredObjectQuery>, stages: PipelineServices): Promise<ProxyResponse> {
  const { target, method, search } = context.request
  if (target.kind === 'response') return forwardResponseRequest(context, target, stages)
  if (target.kind === 'bound') return forwardToStorageProvider(context, target, stages)
  if (target.kind !== 'kept') throw new Error('the request target is not a stored object')
  const { collection, id, vendor } = target
  if (id !== null) return forwardObjectRequest(context, { ...target, id, method }, stages)
  if (method !== 'POST')
    return listObjects(context, { collection, vendor, search: new URLSearchParams(search) }, stages)
  return CREATE[collection](context, stages, vendor)
}

type CreateObject = (context: RequestContext, stages: PipelineServices, vendor?: ClientVendor) => Promise<ProxyResponse>

const CREATE: Record<ObjectCollection, CreateObject> = {
  files: uploadFile,
  anthropic_files: uploadAnthropicFile,
  batches: createBatch,
  message_batches: createMessageBatch,
}
