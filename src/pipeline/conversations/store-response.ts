/** Stores responses that a client may continue or read by id, unless their provider stores them under the project's own key. */
import { ProxyError } from '../../errors/errors.ts'
import { streamInChunks } from '../../event-loop/stream-in-chunks.ts'
import { MAX_MAIN_THREAD_BYTES } from '../../event-loop/worker-pool.ts'
import { recordedEndUserOf } from '../../formats/end-user.ts'
import { isJsonObject } from '../../formats/json/canonical.ts'
import { serializeInputItems } from '../../formats/responses/resolve-references.ts'
import { responsesFormat } from '../../formats/responses/responses-format.ts'
import { transformEvents } from '../../formats/sse/split-events.ts'
import { hasEventName, parseEventData } from '../../formats/sse/sse.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import { type ModelRouter, withoutModelAllowlist } from '../../providers/model-router.ts'
import { storesResponses } from '../../providers/upstream.ts'
import type { Log } from '../../telemetry/log.ts'
import type { CompletionQuery } from '../request/query.ts'
import type { ProxyResponse } from '../request/request.ts'
import { parseStoredResponse } from './background-responses.ts'
import type { StoredResponses } from './stored-responses.ts'

interface ResponseContext {
  query: CompletionQuery
  resolvedKey: ResolvedKey
}

/** Stores a response before its client gets its end; a background response before its client gets its id. */
export type StoreResponse = (context: ResponseContext, response: ProxyResponse) => Promise<ProxyResponse>

export interface ResponseStoreOptions {
  responses: StoredResponses
  modelRouter: Pick<ModelRouter, 'resolve'>
  log: Pick<Log, 'failures'>
}

/** Events that contain the id of a background response. */
const FIRST_EVENTS = ['response.created', 'response.queued', 'response.in_progress']

export function createResponseStore({ responses, modelRouter, log }: ResponseStoreOptions): StoreResponse {
  async function store({ query, resolvedKey }: ResponseContext, response: string): Promise<void> {
    const details = await parseStoredResponse(response, resolvedKey)
    if (!details) return
    const { id, isUnfinished } = details
    const isStored = query.body.store !== false
    if (!isStored && !isUnfinished) return
    const { previousId, ownInput } = query.continued ?? { previousId: null, ownInput: serializeInput(query) }
    // If the response must not be stored, its id still leads to its provider.
    const content = isStored ? { ownInput, response } : { ownInput: null, response: JSON.stringify({ id }) }
    const endUser = recordedEndUserOf(query.body)
    await responses
      .store({ ...details, ...content, previousId, askedFor: endUser }, resolvedKey)
      .catch(error => log.failures.report('stored_objects', error, 'a response could not be stored', { part: 'keep' }))
  }

  /** Whether the provider stores the response for the project. */
  function isStoredByProvider({ query, resolvedKey }: ResponseContext, { headers }: ProxyResponse): boolean {
    const provider = modelRouter.resolve(headers['x-proxy-model'] ?? query.model, withoutModelAllowlist(resolvedKey))
    return !(provider instanceof ProxyError) && storesResponses(provider)
  }

  /** Stores the response of the last event; for a background response, also that of the first. */
  function storeEvents(context: ResponseContext, stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    let needsFirstEvent = context.query.body.background === true
    async function storeResponseOf(event: Uint8Array): Promise<Uint8Array> {
      const response = parseEventData(event)?.response
      if (isJsonObject(response)) await store(context, JSON.stringify(response))
      return event
    }
    return transformEvents(stream, event => {
      const isFirst = needsFirstEvent && hasEventName(event, FIRST_EVENTS)
      if (isFirst) needsFirstEvent = false
      return isFirst || responsesFormat.isLastEvent(event) ? storeResponseOf(event) : event
    })
  }

  return async (context, response) => {
    const { endpoint, body: request } = context.query
    const isStorable = request.store !== false || request.background === true
    if (endpoint !== 'responses' || !isStorable || response.status !== 200) return response
    if (isStoredByProvider(context, response)) return response
    const { body, headers } = response
    if (headers['content-type']?.includes('text/event-stream')) {
      const stream = body instanceof ReadableStream ? body : new Blob([body]).stream()
      return { ...response, body: storeEvents(context, stream) }
    }
    const isStreamed = body instanceof ReadableStream
    const complete = isStreamed ? new Uint8Array(await new Response(body).arrayBuffer()) : body
    await store(context, typeof complete === 'string' ? complete : new TextDecoder().decode(complete))
    return isStreamed ? { ...response, body: streamInChunks(complete as Uint8Array) } : response
  }
}

function serializeInput({ body, isLarge }: CompletionQuery): string | null {
  return isLarge ? null : limitInputLength(serializeInputItems(body.input))
}

/** Returns null for input that is too long to be stored. Later requests can still refer to the response's items. */
export function limitInputLength(input: string): string | null {
  return input.length > MAX_MAIN_THREAD_BYTES ? null : input
}
