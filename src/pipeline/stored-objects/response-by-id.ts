/** Responses that are kept, here or by OpenAI, by id. */
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

interface AskedResponse {
  id: string
  /** '' for the response itself. */
  part: string
  vendor?: ClientVendor
}

/** Throws 404 or 502 to 504, and what the hook refuses: a response that was made in the background was not seen before. */
export async function forwardResponseRequest(
  context: RequestContext,
  asked: AskedResponse,
  stages: PipelineServices,
): Promise<ProxyResponse> {
  await checkQueryString(context, stages)
  const kept = await askKeeper(context, asked, stages)
  return context.request.method === 'DELETE' ? kept : checkStoredResponse(context, kept, stages)
}

async function askKeeper(
  { request, resolvedKey, provider }: RequestContext,
  { id, part, vendor }: AskedResponse,
  stages: PipelineServices,
): Promise<ProxyResponse> {
  const { method, search, headers, signal } = request
  const turns = await stages.storedResponses.find(id, resolvedKey)
  const last = turns.at(-1)
  if (last?.id === id) {
    const asked = { method, part, query: search, headers, held: request.responseMemory, signal }
    const own = await answerOwn([...turns.slice(0, -1), last], asked, resolvedKey, stages)
    if (method === 'DELETE') await forgetEntries(resolvedKey, id, stages)
    return own
  }
  // Only OpenAI keeps responses, and a client of another vendor does not mean it.
  const isElsewhere = !isProxyResponseId(id) && vendor === undefined && provider?.sendStored
  if (!isElsewhere || !(await canReference(stages.database, id, resolvedKey, provider)))
    throw createError('responseNotFound', { id })
  const keeper = await withOwningKey(stages.database, [{ id }], resolvedKey, provider)
  if (!keeper.sendStored) throw createError('responseNotFound', { id })
  const answer = await keeper.sendStored({ method, path: `/responses/${id}${part}`, query: search, headers, signal })
  if (method === 'DELETE' && answer.status === 200) await forgetEntries(resolvedKey, id, stages)
  return {
    status: answer.status,
    headers: { ...toResponseHeaders(answer), 'x-proxy-provider': keeper.name },
    body: await claimIdsInBody(answer.body, {
      database: stages.database,
      resolvedKey,
      keeper: storageProviderNameOf(keeper, answer.headers.get(PROVIDER_KEY_HEADER)),
    }),
  }
}

/** Entries still being written are awaited: after a deletion, no cache hit may return the id of a response that is gone. */
async function forgetEntries(
  { project_id, cache_generation }: RequestContext['resolvedKey'],
  id: string,
  { cache, database, store }: PipelineServices,
): Promise<void> {
  await cache.flush()
  const gone = await callFunction(database, 'delete_response_entries', { of_project: project_id, response_id: id })
  const names = gone.map(({ request_hash }) => entryName(project_id, cache_generation, request_hash))
  await Promise.all(names.map(name => store.deleteEntry(name)))
}

/** Answers for a response that is kept here, the last of these turns. */
async function answerOwn(
  turns: [...StoredResponse[], StoredResponse],
  asked: BackgroundResponseRequest & { held: MemoryReservation },
  resolvedKey: ResolvedKey,
  stages: PipelineServices,
): Promise<ProxyResponse> {
  const { database, storedResponses: kept, modelRouter } = stages
  const last = turns.at(-1) as StoredResponse
  const { id } = last
  const { method, part } = asked
  const search = new URLSearchParams(asked.query)
  if (method === 'DELETE') {
    // Its provider has a copy, if it keeps any.
    if (!isProxyResponseId(id))
      await requestBackgroundResponse(last, asked, resolvedKey, { responses: kept, modelRouter }).catch(() => {})
    await callFunction(database, 'delete_stored_response', { ...responseOwnerOf(resolvedKey), response_id: id })
    return writeJson(JSON.stringify({ id, object: 'response', deleted: true }))
  }
  if (part === '/input_items') return writeJson(JSON.stringify(pageOf(turns.flatMap(listInputItems), search)))
  if (last.unfinished) return requestBackgroundResponse(last, asked, resolvedKey, { responses: kept, modelRouter })
  const isAside = parseJsonObject(last.response)?.background === true
  if (part === '/cancel' && !isAside)
    throw invalidRequestError('Only a response that is made in the background can be cancelled.')
  if (search.get('stream') !== 'true') return writeJson(last.response)
  // Its provider knows which events its client has had.
  const again =
    isAside &&
    (await requestBackgroundResponse(last, asked, resolvedKey, { responses: kept, modelRouter }).catch(() => null))
  return again && again.status === 200 ? again : writeStream(last, resolvedKey, asked.held)
}

function writeStream({ response }: StoredResponse, resolvedKey: ResolvedKey, held: MemoryReservation): ProxyResponse {
  const replayed = { endpoint: 'responses', includeUsage: true } as const
  const body = replayStream(new TextEncoder().encode(response), replayed, { resolvedKey, held })
  return { status: 200, headers: { ...SSE_HEADERS }, body }
}

const MOST_ITEMS = 100

/** As OpenAI lists input items: the latest first, unless asked otherwise. */
function pageOf(items: JsonObject[], search: URLSearchParams) {
  const size = Number(search.get('limit') ?? 20)
  if (!Number.isInteger(size) || size < 1 || size > MOST_ITEMS) {
    throw invalidRequestError(`limit must be a whole number from 1 to ${MOST_ITEMS}.`, 'limit')
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
