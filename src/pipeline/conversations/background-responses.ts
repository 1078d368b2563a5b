/** Requests background responses from a provider under a shared key, and stores them here once they are complete. */
import { AGGREGATOR } from '../../catalogue/catalogue.ts'
import { createError } from '../../errors/errors.ts'
import type { MemoryReservation } from '../../event-loop/stream-memory.ts'
import { MAX_MAIN_THREAD_BYTES, WorkerJob, workerPool } from '../../event-loop/worker-pool.ts'
import { isJsonObject } from '../../formats/json/canonical.ts'
import { readStoredResponse, type StoredResponseDetails } from '../../formats/responses/resolve-references.ts'
import { responsesFormat } from '../../formats/responses/responses-format.ts'
import { transformEvents } from '../../formats/sse/split-events.ts'
import { parseEventData } from '../../formats/sse/sse.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import type { ModelRouter } from '../../providers/model-router.ts'
import { MAX_PLAIN_RESPONSE_BYTES, readAllBytes } from '../../providers/read-bytes.ts'
import type { StorageRequest } from '../../providers/upstream.ts'
import type { ProxyResponse } from '../request/request.ts'
import { restoreEchoedFields, streamOf } from './echoed-fields.ts'
import type { StoredResponse, StoredResponses } from './stored-responses.ts'

export interface BackgroundResponseOptions {
  responses: StoredResponses
  modelRouter: Pick<ModelRouter, 'findResponseStorage'>
}

export type BackgroundResponseRequest = Omit<StorageRequest, 'path'> & {
  /** Memory reservation that counts the response until its client has read it. */
  held?: MemoryReservation
  /** A part of the response, with a leading slash; '' for the response itself. */
  part: string
}

const READ = new WorkerJob<string, StoredResponseDetails | null>(
  new URL('./jobs.ts', import.meta.url),
  'readStoredResponseJob',
)
/** The start of a response that the proxy translated. Such a response is always complete. */
const PROXY_RESPONSE_START = /^\{"id":"(resp_[0-9a-f]{44})"/

/** Returns null for JSON that is not a response. A worker parses a long one. */
export function parseStoredResponse(
  response: string,
  { project_id: owner }: Pick<ResolvedKey, 'project_id'>,
): StoredResponseDetails | null | Promise<StoredResponseDetails | null> {
  // raw text: the proxy wrote this text; any other text is parsed.
  const id = PROXY_RESPONSE_START.exec(response)?.[1]
  if (id !== undefined) return { id, itemIds: [], isUnfinished: false, isStored: true }
  return response.length > MAX_MAIN_THREAD_BYTES
    ? workerPool.run(READ, response, { owner })
    : readStoredResponse(response)
}

/** Requests a background response from its provider. Throws a 404 if the provider is not configured any more, and the errors of `sendStored`. */
export async function requestBackgroundResponse(
  { id, previous_id: previous }: StoredResponse,
  { part, held, ...request }: BackgroundResponseRequest,
  resolvedKey: ResolvedKey,
  { responses, modelRouter }: BackgroundResponseOptions,
): Promise<ProxyResponse> {
  const provider = modelRouter.findResponseStorage(resolvedKey, AGGREGATOR)
  if (!provider?.sendStored) throw createError('responseNotFound', { id })
  const upstreamResponse = await provider.sendStored({
    ...request,
    path: `/responses/${encodeURIComponent(id)}${part}`,
  })
  const { status, headers, body } = upstreamResponse
  const isStream = headers.get('content-type')?.includes('text/event-stream') ?? false
  const response: ProxyResponse = {
    status,
    headers: { ...Object.fromEntries(headers), 'x-proxy-provider': provider.name },
    body: isStream ? body : await readAllBytes(body, provider.name, MAX_PLAIN_RESPONSE_BYTES, held),
  }
  const restored = await restoreEchoedFields({ previous_response_id: previous }, response, resolvedKey)
  if (status !== 200) return restored

  async function store(text: string): Promise<void> {
    const details = await parseStoredResponse(text, resolvedKey)
    if (details?.id !== id || details.isUnfinished || !details.isStored) return
    // If this fails, the next request for the response stores it.
    await responses.finish({ id, response: text, itemIds: details.itemIds }, resolvedKey).catch(() => {})
  }

  if (!isStream) {
    const text = await new Response(restored.body).text()
    await store(text)
    return { ...restored, body: text }
  }
  const storeLastEvent = async (event: Uint8Array) => {
    const finished = parseEventData(event)?.response
    if (isJsonObject(finished)) await store(JSON.stringify(finished))
    return event
  }
  const storing = transformEvents(streamOf(restored.body), event =>
    responsesFormat.isLastEvent(event) ? storeLastEvent(event) : event,
  )
  return { ...restored, body: storing }
}

const TIME_LIMIT_MS = 30_000

/** Returns the completed response. Throws a 409 if it is not complete yet. */
export async function completeBackgroundResponse(
  stored: StoredResponse,
  resolvedKey: ResolvedKey,
  options: BackgroundResponseOptions,
): Promise<StoredResponse> {
  if (!stored.unfinished) return stored
  const signal = AbortSignal.timeout(TIME_LIMIT_MS)
  const request = { method: 'GET' as const, part: '', query: '', headers: new Headers(), signal }
  const { status, body } = await requestBackgroundResponse(stored, request, resolvedKey, options)
  const response = await new Response(body).text()
  const details = status === 200 ? await parseStoredResponse(response, resolvedKey) : null
  if (details?.id !== stored.id || details.isUnfinished) throw createError('responseUnfinished', { id: stored.id })
  return { ...stored, response, unfinished: false }
}
