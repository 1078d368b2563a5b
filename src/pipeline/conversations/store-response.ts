/** Keeps what a client may continue, or read by its id, where its provider keeps none under the project's own key. */
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

interface KeptFor {
  query: CompletionQuery
  resolvedKey: ResolvedKey
}

/** Keeps the response, before its client knows its end; one that is made in the background, before its client knows its id. */
export type StoreResponse = (asked: KeptFor, response: ProxyResponse) => Promise<ProxyResponse>

export interface ResponseStoreOptions {
  responses: StoredResponses
  modelRouter: Pick<ModelRouter, 'resolve'>
  log: Pick<Log, 'failures'>
}

/** Tell the id of what is made in the background. */
const FIRST_EVENTS = ['response.created', 'response.queued', 'response.in_progress']

export function createResponseStore({ responses, modelRouter, log }: ResponseStoreOptions): StoreResponse {
  async function keep({ query, resolvedKey }: KeptFor, response: string): Promise<void> {
    const as = await parseStoredResponse(response, resolvedKey)
    if (!as) return
    const { id, isUnfinished } = as
    const isStored = query.body.store !== false
    if (!isStored && !isUnfinished) return
    const { previousId, ownInput } = query.continued ?? { previousId: null, ownInput: writeInput(query) }
    // Of what may not be stored, its id leads to its provider.
    const said = isStored ? { ownInput, response } : { ownInput: null, response: JSON.stringify({ id }) }
    const askedFor = recordedEndUserOf(query.body)
    await responses
      .store({ ...as, ...said, previousId, askedFor }, resolvedKey)
      .catch(error => log.failures.report('stored_objects', error, 'a response could not be kept', { part: 'keep' }))
  }

  /** Whether its provider keeps it for the project. */
  function isKeptThere({ query, resolvedKey }: KeptFor, { headers }: ProxyResponse): boolean {
    const provider = modelRouter.resolve(headers['x-proxy-model'] ?? query.model, withoutModelAllowlist(resolvedKey))
    return !(provider instanceof ProxyError) && storesResponses(provider)
  }

  /** Keeps what its events hold: the last one, and of what is made in the background the first. */
  function keepEvents(asked: KeptFor, stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    let isAwaited = asked.query.body.background === true
    async function keepHeld(event: Uint8Array): Promise<Uint8Array> {
      const held = parseEventData(event)?.response
      if (isJsonObject(held)) await keep(asked, JSON.stringify(held))
      return event
    }
    return transformEvents(stream, event => {
      const isFirst = isAwaited && hasEventName(event, FIRST_EVENTS)
      if (isFirst) isAwaited = false
      return isFirst || responsesFormat.isLastEvent(event) ? keepHeld(event) : event
    })
  }

  return async (asked, response) => {
    const { endpoint, body: request } = asked.query
    const isKept = request.store !== false || request.background === true
    if (endpoint !== 'responses' || !isKept || response.status !== 200) return response
    if (isKeptThere(asked, response)) return response
    const { body, headers } = response
    if (headers['content-type']?.includes('text/event-stream')) {
      const stream = body instanceof ReadableStream ? body : new Blob([body]).stream()
      return { ...response, body: keepEvents(asked, stream) }
    }
    const isStreamed = body instanceof ReadableStream
    const whole = isStreamed ? new Uint8Array(await new Response(body).arrayBuffer()) : body
    await keep(asked, typeof whole === 'string' ? whole : new TextDecoder().decode(whole))
    return isStreamed ? { ...response, body: streamInChunks(whole as Uint8Array) } : response
  }
}

function writeInput({ body, isLarge }: CompletionQuery): string | null {
  return isLarge ? null : limitInputLength(serializeInputItems(body.input))
}

/** A longer one is not kept: the response's items can still be named. */
export function limitInputLength(input: string): string | null {
  return input.length > MAX_MAIN_THREAD_BYTES ? null : input
}
