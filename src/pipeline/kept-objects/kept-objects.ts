/**
 * What providers keep for projects: files, batches, responses, and what OpenAI alone keeps. Making something counts as a request; asking about what is kept
 * is free.
 */
import type { Collection } from '../../postgres/kept-objects.ts'
import type { NamedVendor } from '../../providers/operations.ts'
import type { KeptQuery } from '../query.ts'
import type { ProxyRequest, ProxyResponse } from '../request.ts'
import type { Attempt, LoneOperation, RequestContext, Stages } from '../request-context.ts'
import { askBound } from './ask-bound.ts'
import { askObject } from './ask-object.ts'
import { listObjects } from './list-objects.ts'
import { startBatch, startMessageBatch } from './make-object.ts'
import { askResponse } from './stored-responses.ts'
import { uploadAnthropicFile, uploadFile } from './upload-file.ts'

export const keptObject: LoneOperation = {
  sharesCalls: false,
  read,
  serveHit: () => null,
  ask: async (context: RequestContext<KeptQuery>, stages): Promise<Attempt> => ({
    response: await answer(context, stages),
  }),
  price: () => 0,
}

/** The body of a new object is read when it is made: what is recorded does not depend on it. */
async function read({ target }: ProxyRequest): Promise<KeptQuery> {
  const endpoint = 'collection' in target ? target.collection : 'responses'
  const kind = target.kind === 'kept' || target.kind === 'bound' ? target.kind : 'response'
  return { kind, endpoint, model: endpoint, stream: false, body: {} }
}

/** Throws 400, 404, 413, 415, 429, 502 to 504. */
function answer(context: RequestContext<KeptQuery>, stages: Stages): Promise<ProxyResponse> {
  const { target, method, search } = context.request
  if (target.kind === 'response') return askResponse(context, target, stages)
  if (target.kind === 'bound') return askBound(context, target, stages)
  if (target.kind !== 'kept') throw new Error('Providers keep nothing else')
  const { collection, id, vendor } = target
  if (id !== null) return askObject(context, { ...target, id, method }, stages)
  if (method !== 'POST')
    return listObjects(context, { collection, vendor, search: new URLSearchParams(search) }, stages)
  return MAKE[collection](context, stages, vendor)
}

type Make = (context: RequestContext, stages: Stages, vendor?: NamedVendor) => Promise<ProxyResponse>

const MAKE: Record<Collection, Make> = {
  files: uploadFile,
  anthropic_files: uploadAnthropicFile,
  batches: startBatch,
  message_batches: startMessageBatch,
}
