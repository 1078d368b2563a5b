/** Responses that a provider makes in the background, under a key that projects share: asked for until they are whole, then kept here. */
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
import { restoreEchoedFields } from './echoed-fields.ts'
import type { StoredResponse, StoredResponses } from './stored-responses.ts'

export interface BackgroundResponseOptions {
  responses: StoredResponses
  modelRouter: Pick<ModelRouter, 'findResponseStorage'>
}

export type BackgroundResponseRequest = Omit<StorageRequest, 'path'> & {
  /** Counts the response until its client has read it. */
  held?: MemoryReservation
  /** '' for the response itself. */
  part: string
}

const READ = new WorkerJob<string, StoredResponseDetails | null>(
  new URL('../jobs.ts', import.meta.url),
  'readStoredResponseJob',
)
/** A translated response begins with its id, and is whole. */
const OWN_ID_FIRST = /^\{"id":"(resp_[0-9a-f]{44})"/

/** A long one is read by a worker. Null for what is no response. */
export function parseStoredResponse(
  response: string,
  { project_id: owner }: Pick<ResolvedKey, 'project_id'>,
): StoredResponseDetails | null | Promise<StoredResponseDetails | null> {
  // raw text: the proxy has written it; any other is parsed.
  const id = OWN_ID_FIRST.exec(response)?.[1]
  if (id !== undefined) return { id, itemIds: [], isUnfinished: false, isStored: true }
  return response.length > MAX_MAIN_THREAD_BYTES
    ? workerPool.run(READ, response, { owner })
    : readStoredResponse(response)
}

/** Asks its provider about it. Throws a 404 where that is not reached any more, and what `askStored` does. */
export async function requestBackgroundResponse(
  { id, previous_id: previous }: StoredResponse,
  { part, held, ...asked }: BackgroundResponseRequest,
  resolvedKey: ResolvedKey,
  { responses, modelRouter }: BackgroundResponseOptions,
): Promise<ProxyResponse> {
  const provider = modelRouter.findResponseStorage(resolvedKey, AGGREGATOR)
  if (!provider?.sendStored) throw createError('responseNotFound', { id })
  const answer = await provider.sendStored({ ...asked, path: `/responses/${encodeURIComponent(id)}${part}` })
  const { status, headers, body } = answer
  const isStream = headers.get('content-type')?.includes('text/event-stream') ?? false
  const given: ProxyResponse = {
    status,
    headers: { ...Object.fromEntries(headers), 'x-proxy-provider': provider.name },
    body: isStream ? body : await readAllBytes(body, provider.name, MAX_PLAIN_RESPONSE_BYTES, held),
  }
  const own = await restoreEchoedFields({ previous_response_id: previous }, given, resolvedKey)
  if (status !== 200) return own

  async function keep(response: string): Promise<void> {
    const as = await parseStoredResponse(response, resolvedKey)
    if (as?.id !== id || as.isUnfinished || !as.isStored) return
    // What is not kept now is asked for again.
    await responses.finish({ id, response, itemIds: as.itemIds }, resolvedKey).catch(() => {})
  }

  if (!isStream) {
    const text = await new Response(own.body).text()
    await keep(text)
    return { ...own, body: text }
  }
  const stream = own.body instanceof ReadableStream ? own.body : new Blob([own.body]).stream()
  const keepLast = async (event: Uint8Array) => {
    const ended = parseEventData(event)?.response
    if (isJsonObject(ended)) await keep(JSON.stringify(ended))
    return event
  }
  const keeping = transformEvents(stream, event => (responsesFormat.isLastEvent(event) ? keepLast(event) : event))
  return { ...own, body: keeping }
}

const ASK_TIME_LIMIT_MS = 30_000

/** The response as it is by now. Throws a 409 where it is not whole yet. */
export async function completeBackgroundResponse(
  turn: StoredResponse,
  resolvedKey: ResolvedKey,
  options: BackgroundResponseOptions,
): Promise<StoredResponse> {
  if (!turn.unfinished) return turn
  const signal = AbortSignal.timeout(ASK_TIME_LIMIT_MS)
  const asked = { method: 'GET' as const, part: '', query: '', headers: new Headers(), signal }
  const { status, body } = await requestBackgroundResponse(turn, asked, resolvedKey, options)
  const response = await new Response(body).text()
  const as = status === 200 ? await parseStoredResponse(response, resolvedKey) : null
  if (as?.id !== turn.id || as.isUnfinished) throw createError('responseUnfinished', { id: turn.id })
  return { ...turn, response, unfinished: false }
}
