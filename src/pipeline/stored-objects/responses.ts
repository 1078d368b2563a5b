/** Handles what only responses by id have: some are stored by the proxy, and a deleted one may still be in the cache. */
import { invalidRequestError } from '../../errors/errors.ts'
import { type JsonObject, parseJsonObject } from '../../formats/json/canonical.ts'
import { isProxyResponseId } from '../../formats/responses/item-references.ts'
import { listInputItems } from '../../formats/responses/resolve-references.ts'
import { callFunction } from '../../postgres/call.ts'
import { entryName } from '../../stores/fast-store.ts'
import type { PipelineServices } from '../context/request-context.ts'
import { requestBackgroundResponse } from '../conversations/background-responses.ts'
import { responseOwnerOf, type StoredResponse } from '../conversations/stored-responses.ts'
import type { ProxyResponse } from '../request/request.ts'
import { createJsonResponse, JSON_HEADERS, SSE_HEADERS } from '../response/response-headers.ts'
import { replayStream } from '../response/serve-hit.ts'
import type { ObjectContext } from './find-object.ts'
import { readLimit } from './list-objects.ts'

/** Turns of a conversation, of which the last is the requested response. */
type Turns = [...StoredResponse[], StoredResponse]

/** Returns null if the proxy does not store the response for the key. */
export async function findOwnResponse(
  { resolvedKey, target }: ObjectContext,
  { storedResponses }: PipelineServices,
): Promise<Turns | null> {
  const turns = await storedResponses.find(target.id ?? '', resolvedKey)
  const last = turns.at(-1)
  return last?.id === target.id && last ? [...turns.slice(0, -1), last] : null
}

/** Deletes cache entries of the response. Pending writes are awaited first, so that no later hit returns the id of a deleted response. */
export async function deleteCacheEntries(
  { resolvedKey, target }: ObjectContext,
  { cache, database, store }: PipelineServices,
): Promise<void> {
  const { project_id, cache_generation } = resolvedKey
  await cache.flush()
  const response = { of_project: project_id, response_id: target.id ?? '' }
  const deleted = await callFunction(database, 'delete_response_entries', response)
  const names = deleted.map(({ request_hash }) => entryName(project_id, cache_generation, request_hash))
  await Promise.all(names.map(name => store.deleteEntry(name)))
}

/** Returns, cancels or deletes a response that the proxy stores. */
export async function serveOwnResponse(
  { request, resolvedKey, target }: ObjectContext,
  turns: Turns,
  stages: PipelineServices,
): Promise<ProxyResponse> {
  const { method, headers, signal, responseMemory: held } = request
  const last = turns.at(-1) as StoredResponse
  const { id } = last
  const search = new URLSearchParams(request.search)
  const requestFromProvider = () =>
    requestBackgroundResponse(
      last,
      { method, part: target.subpath, query: request.search, headers, held, signal },
      resolvedKey,
      { responses: stages.storedResponses, modelRouter: stages.modelRouter },
    )
  if (method === 'DELETE') {
    // The provider may store a copy, which is deleted, too.
    if (!isProxyResponseId(id)) await requestFromProvider().catch(() => {})
    await callFunction(stages.database, 'delete_stored_response', { ...responseOwnerOf(resolvedKey), response_id: id })
    return createJsonResponse({ id, object: 'response', deleted: true })
  }
  if (target.subpath === '/input_items')
    return createJsonResponse(createItemPage(turns.flatMap(listInputItems), search))
  if (last.unfinished) return requestFromProvider()
  const isBackground = parseJsonObject(last.response)?.background === true
  if (target.subpath === '/cancel' && !isBackground)
    throw invalidRequestError('Only a response with background: true can be cancelled.')
  if (search.get('stream') !== 'true') return { status: 200, headers: { ...JSON_HEADERS }, body: last.response }
  // The provider knows which events the client has received.
  const current = isBackground && (await requestFromProvider().catch(() => null))
  if (current && current.status === 200) return current
  const format = { endpoint: 'responses', includeUsage: true } as const
  const body = replayStream(new TextEncoder().encode(last.response), format, { resolvedKey, held })
  return { status: 200, headers: { ...SSE_HEADERS }, body }
}

const PAGE_SIZES = { default: 20, max: 100 }

/** Returns a page of input items as OpenAI lists them: the latest first by default. Throws a 400 for an invalid page. */
function createItemPage(items: JsonObject[], search: URLSearchParams) {
  const size = readLimit(search.get('limit'), PAGE_SIZES)
  const ordered = search.get('order') === 'asc' ? items : items.toReversed()
  const after = search.get('after')
  const start = after === null ? 0 : ordered.findIndex(({ id }) => id === after) + 1
  if (after !== null && start === 0) throw invalidRequestError('after must be the id of an item in the list.', 'after')
  const data = ordered.slice(start, start + size)
  const [first_id, last_id] = [data[0]?.id ?? null, data.at(-1)?.id ?? null]
  return { object: 'list', data, first_id, last_id, has_more: start + size < ordered.length }
}
