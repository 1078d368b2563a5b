/** Handles requests about a stored response by its id: one that the proxy stores, or one that OpenAI stores. */
import { createError, invalidRequestError } from '../../errors/errors.ts'
import type { MemoryReservation } from '../../event-loop/stream-memory.ts'
import { type JsonObject, parseJsonObject } from '../../formats/json/canonical.ts'
import { isProxyResponseId } from '../../formats/responses/item-references.ts'
import { listInputItems } from '../../formats/responses/resolve-references.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import { callFunction } from '../../postgres/call.ts'
import { PROVIDER_KEY_HEADER } from '../../providers/balance-keys.ts'
import type { ClientVendor } from '../../providers/pass-through-operations.ts'
import { entryName } from '../../stores/fast-store.ts'
import type { PipelineServices, RequestContext } from '../context/request-context.ts'
import { type BackgroundResponseRequest, requestBackgroundResponse } from '../conversations/background-responses.ts'
import { responseOwnerOf, type StoredResponse } from '../conversations/stored-responses.ts'
import { checkQueryString, checkStoredResponse } from '../hook-checks/check-stored-objects.ts'
import { canReference, withOwningKey } from '../ownership/check-references.ts'
import { claimIdsInBody, storageProviderNameOf } from '../ownership/claim-ids.ts'
import type { ProxyResponse } from '../request/request.ts'
import { toResponseHeaders } from '../response/complete-call.ts'
import { SSE_HEADERS } from '../response/response-headers.ts'
import { replayStream } from '../response/serve-hit.ts'

interface ResponseTarget {
  id: string
  /** The path below the response; '' for the response itself. */
  part: string
  vendor?: ClientVendor
}

/**
 * Returns, cancels or deletes the response. Throws 404, 502 to 504, or the hook's rejection: the hook has not seen a response that was
 * generated in the background.
 */
export async function forwardResponseRequest(
  context: RequestContext,
  target: ResponseTarget,
  stages: PipelineServices,
): Promise<ProxyResponse> {
  await checkQueryString(context, stages)
  const response = await resolveResponse(context, target, stages)
  return context.request.method === 'DELETE' ? response : checkStoredResponse(context, response, stages)
}

async function resolveResponse(
  { request, resolvedKey, provider }: RequestContext,
  { id, part, vendor }: ResponseTarget,
  stages: PipelineServices,
): Promise<ProxyResponse> {
  const { method, search, headers, signal } = request
  const turns = await stages.storedResponses.find(id, resolvedKey)
  const last = turns.at(-1)
  if (last?.id === id) {
    const target = { method, part, query: search, headers, held: request.responseMemory, signal }
    const response = await handleStoredResponse([...turns.slice(0, -1), last], target, resolvedKey, stages)
    if (method === 'DELETE') await deleteCacheEntries(resolvedKey, id, stages)
    return response
  }
  // OpenAI alone stores responses, and a client of another vendor's API does not refer to them.
  const canBeAtProvider = !isProxyResponseId(id) && vendor === undefined && provider?.sendStored
  if (!canBeAtProvider || !(await canReference(stages.database, id, resolvedKey, provider)))
    throw createError('responseNotFound', { id })
  const storageProvider = await withOwningKey(stages.database, [{ id }], resolvedKey, provider)
  if (!storageProvider.sendStored) throw createError('responseNotFound', { id })
  const upstream = await storageProvider.sendStored({
    method,
    path: `/responses/${id}${part}`,
    query: search,
    headers,
    signal,
  })
  if (method === 'DELETE' && upstream.status === 200) await deleteCacheEntries(resolvedKey, id, stages)
  return {
    status: upstream.status,
    headers: { ...toResponseHeaders(upstream), 'x-proxy-provider': storageProvider.name },
    body: await claimIdsInBody(upstream.body, {
      database: stages.database,
      resolvedKey,
      keeper: storageProviderNameOf(storageProvider, upstream.headers.get(PROVIDER_KEY_HEADER)),
    }),
  }
}

/** Deletes cache entries of the response. Pending writes are awaited first, so that no later hit returns the id of a deleted response. */
async function deleteCacheEntries(
  { project_id, cache_generation }: RequestContext['resolvedKey'],
  id: string,
  { cache, database, store }: PipelineServices,
): Promise<void> {
  await cache.flush()
  const deleted = await callFunction(database, 'delete_response_entries', { of_project: project_id, response_id: id })
  const names = deleted.map(({ request_hash }) => entryName(project_id, cache_generation, request_hash))
  await Promise.all(names.map(name => store.deleteEntry(name)))
}

/** Handles a request about a response that the proxy stores: the last of these turns. */
async function handleStoredResponse(
  turns: [...StoredResponse[], StoredResponse],
  target: BackgroundResponseRequest & { held: MemoryReservation },
  resolvedKey: ResolvedKey,
  stages: PipelineServices,
): Promise<ProxyResponse> {
  const { database, storedResponses: responses, modelRouter } = stages
  const last = turns.at(-1) as StoredResponse
  const { id } = last
  const { method, part } = target
  const search = new URLSearchParams(target.query)
  if (method === 'DELETE') {
    // The provider may store a copy, which is deleted, too.
    if (!isProxyResponseId(id))
      await requestBackgroundResponse(last, target, resolvedKey, { responses, modelRouter }).catch(() => {})
    await callFunction(database, 'delete_stored_response', { ...responseOwnerOf(resolvedKey), response_id: id })
    return writeJson(JSON.stringify({ id, object: 'response', deleted: true }))
  }
  if (part === '/input_items') return writeJson(JSON.stringify(createItemPage(turns.flatMap(listInputItems), search)))
  if (last.unfinished) return requestBackgroundResponse(last, target, resolvedKey, { responses, modelRouter })
  const isBackground = parseJsonObject(last.response)?.background === true
  if (part === '/cancel' && !isBackground)
    throw invalidRequestError('Only a response with background: true can be cancelled.')
  if (search.get('stream') !== 'true') return writeJson(last.response)
  // The provider knows which events the client has received.
  const current =
    isBackground &&
    (await requestBackgroundResponse(last, target, resolvedKey, { responses, modelRouter }).catch(() => null))
  return current && current.status === 200 ? current : writeStream(last, resolvedKey, target.held)
}

function writeStream({ response }: StoredResponse, resolvedKey: ResolvedKey, held: MemoryReservation): ProxyResponse {
  const format = { endpoint: 'responses', includeUsage: true } as const
  const body = replayStream(new TextEncoder().encode(response), format, { resolvedKey, held })
  return { status: 200, headers: { ...SSE_HEADERS }, body }
}

const MAX_ITEMS = 100

/** Returns a page of input items as OpenAI lists them: the latest first by default. Throws a 400 for an invalid page. */
function createItemPage(items: JsonObject[], search: URLSearchParams) {
  const size = Number(search.get('limit') ?? 20)
  if (!Number.isInteger(size) || size < 1 || size > MAX_ITEMS) {
    throw invalidRequestError(`limit must be a whole number from 1 to ${MAX_ITEMS}.`, 'limit')
  }
  const ordered = search.get('order') === 'asc' ? items : items.toReversed()
  const after = search.get('after')
  const start = after === null ? 0 : ordered.findIndex(({ id }) => id === after) + 1
  if (after !== null && start === 0) throw invalidRequestError('after must be the id of an item in the list.', 'after')
  const data = ordered.slice(start, start + size)
  const [first_id, last_id] = [data[0]?.id ?? null, data.at(-1)?.id ?? null]
  return { object: 'list', data, first_id, last_id, has_more: start + size < ordered.length }
}

function writeJson(body: string): ProxyResponse {
  return { status: 200, headers: { 'content-type': 'application/json' }, body }
}
