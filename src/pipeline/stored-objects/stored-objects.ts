/**
 * Handles requests about objects that providers store for projects (`providers/stored-object-collections.ts`). All collections share the
 * steps: check with the hook, find the project's object, then forward a free request, or prepare, send and record a request that counts.
 */
import { actionsOf, traitsOf } from '../../providers/stored-object-collections.ts'
import type {
  AttemptResult,
  PipelineServices,
  RequestContext,
  UncoalescedOperation,
} from '../context/request-context.ts'
import { checkQueryString, checkStoredResponse } from '../hook-checks/check-stored-objects.ts'
import type { StoredObjectQuery } from '../request/query.ts'
import type { ProxyRequest, ProxyResponse, StoredObjectTarget } from '../request/request.ts'
import { findObject } from './find-object.ts'
import { forwardObjectRequest } from './forward-object-request.ts'
import { listObjects } from './list-objects.ts'
import { prepareObjectRequest } from './prepare-object-request.ts'
import { deleteCacheEntries, findOwnResponse, serveOwnResponse } from './responses.ts'
import { sendObjectRequest } from './send-object-request.ts'

export const storedObjectOperation: UncoalescedOperation = {
  sharesCalls: false,
  read,
  serveHit: () => null,
  execute: async (context, stages): Promise<AttemptResult> => ({
    response: await handleRequest(context, targetOf(context.request), stages),
  }),
  price: () => 0,
}

/** Describes the request for its record. The body is read later, because the record does not depend on it. */
async function read(request: ProxyRequest): Promise<StoredObjectQuery> {
  const { collection } = targetOf(request)
  return { kind: 'stored_object', endpoint: collection, model: collection, stream: false, body: {} }
}

function targetOf({ target }: ProxyRequest): StoredObjectTarget {
  if (target.kind !== 'stored_object') throw new Error('the request target is not a stored object')
  return target
}

/** Throws 400, 404, 413, 415, 429, 502 to 504, or the hook's rejection. */
async function handleRequest(
  requestContext: RequestContext,
  target: StoredObjectTarget,
  stages: PipelineServices,
): Promise<ProxyResponse> {
  const { request } = requestContext
  const { collection } = target
  const { ownership, containsResponses } = traitsOf(collection)
  const action = actionsOf(target)[request.method]
  if (!action) throw new Error(`${request.method} is not allowed at this path of ${collection}`)
  const context = { ...requestContext, target, action }
  if (action.lists) {
    const single = { ...requestContext, request: { ...request, search: '' } }
    return listObjects(context, id => handleRequest(single, { ...target, id }, stages), stages)
  }
  if (ownership === 'claimed') await checkQueryString(context, stages)
  const turns = collection === 'responses' ? await findOwnResponse(context, stages) : null
  const object = turns ?? (await findObject(context, stages))
  if (action.isCounted || object === null)
    return sendObjectRequest(context, await prepareObjectRequest(context, stages), stages)
  const response =
    'provider' in object
      ? await forwardObjectRequest({ ...context, object }, stages)
      : await serveOwnResponse(context, object, stages)
  const isDeletion = request.method === 'DELETE'
  if (collection === 'responses' && isDeletion && response.status === 200) await deleteCacheEntries(context, stages)
  // The hook has not seen a response that was generated in the background.
  return containsResponses && !isDeletion ? checkStoredResponse(context, response, stages) : response
}
