/** Keeps what a client may continue, or read by its id, where its provider keeps none under the project's own key. */
import { ProxyError } from '../errors/errors.ts'
import { inPieces } from '../event-loop/in-pieces.ts'
import { LONGEST_ON_LOOP } from '../event-loop/off-loop.ts'
import { recordedUserOf } from '../formats/end-user.ts'
import { isJsonObject } from '../formats/json/canonical.ts'
import { writeOwnInput } from '../formats/responses/continued-input.ts'
import { responsesFormat } from '../formats/responses/responses-format.ts'
import { changeEvents } from '../formats/sse/split-events.ts'
import { namesEvent, readTypedEvent } from '../formats/sse/sse.ts'
import type { Account } from '../postgres/admit.ts'
import { type ModelRouter, unnarrowed } from '../providers/model-router.ts'
import { keepsResponses } from '../providers/upstream.ts'
import type { Log } from '../telemetry/log.ts'
import { keptAs } from './kept-objects/unfinished-responses.ts'
import type { KeptResponses } from './kept-responses.ts'
import type { CompletionQuery } from './query.ts'
import type { ProxyResponse } from './request.ts'

interface KeptFor {
  query: CompletionQuery
  account: Account
}

/** Keeps the response, before its client knows its end; one that is made in the background, before its client knows its id. */
export type Keeping = (asked: KeptFor, response: ProxyResponse) => Promise<ProxyResponse>

export interface KeepingOptions {
  kept: KeptResponses
  modelRouter: Pick<ModelRouter, 'resolve'>
  log: Pick<Log, 'failures'>
}

/** Tell the id of what is made in the background. */
const FIRST_EVENTS = ['response.created', 'response.queued', 'response.in_progress']

export function createKeeping({ kept, modelRouter, log }: KeepingOptions): Keeping {
  async function keep({ query, account }: KeptFor, response: string): Promise<void> {
    const as = await keptAs(response, account)
    if (!as) return
    const { id, isUnfinished } = as
    const isStored = query.body.store !== false
    if (!isStored && !isUnfinished) return
    const { previousId, ownInput } = query.continued ?? { previousId: null, ownInput: writeInput(query) }
    // Of what may not be stored, its id leads to its provider.
    const said = isStored ? { ownInput, response } : { ownInput: null, response: JSON.stringify({ id }) }
    const askedFor = recordedUserOf(query.body)
    await kept
      .keep({ ...as, ...said, previousId, askedFor }, account)
      .catch(error => log.failures.report('stored_objects', error, 'a response could not be kept', { part: 'keep' }))
  }

  /** Whether its provider keeps it for the project. */
  function isKeptThere({ query, account }: KeptFor, { headers }: ProxyResponse): boolean {
    const provider = modelRouter.resolve(headers['x-proxy-model'] ?? query.model, unnarrowed(account))
    return !(provider instanceof ProxyError) && keepsResponses(provider)
  }

  /** Keeps what its events hold: the last one, and of what is made in the background the first. */
  function keepEvents(asked: KeptFor, stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    let isAwaited = asked.query.body.background === true
    async function keepHeld(event: Uint8Array): Promise<Uint8Array> {
      const held = readTypedEvent(event)?.response
      if (isJsonObject(held)) await keep(asked, JSON.stringify(held))
      return event
    }
    return changeEvents(stream, event => {
      const isFirst = isAwaited && namesEvent(event, FIRST_EVENTS)
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
    return isStreamed ? { ...response, body: inPieces(whole as Uint8Array) } : response
  }
}

function writeInput({ body, isLarge }: CompletionQuery): string | null {
  return isLarge ? null : boundedInput(writeOwnInput(body.input))
}

/** A longer one is not kept: the response's items can still be named. */
export function boundedInput(input: string): string | null {
  return input.length > LONGEST_ON_LOOP ? null : input
}
