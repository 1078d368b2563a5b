/** Streams the events of a subscriber to a client, only as fast as the client reads. */

import { createError, ProxyError } from '../../errors/errors.ts'
import { apiFormatOf } from '../../formats/endpoint-formats.ts'
import type { RequestRecorder } from '../accounting/request-recorder.ts'
import type { Subscriber } from '../coalescing/shared-call.ts'
import type { RoutedContext } from '../context/request-context.ts'
import type { CompletionQuery } from '../request/query.ts'

/** How a stream ended for one client. */
export type ClientStreamEnd = { kind: 'complete' } | { kind: 'failed'; failure: ProxyError } | { kind: 'gone' }

export interface ClientStreamOptions {
  /** Whether the client asked for the closing usage chunk. */
  includeUsage: boolean
  /** Returns the events that report a broken stream. `lastEvent` is the last event that was sent, if any. */
  writeFailure(error: ProxyError, lastEvent: Uint8Array | null): Uint8Array
  recorder: Pick<RequestRecorder, 'recordFirstChunk'>
}

export interface ClientStream {
  body: ReadableStream<Uint8Array>
  /** Never rejects. */
  ended: Promise<ClientStreamEnd>
}

/** Returns the options that follow from the request's fields. */
export function createClientStreamOptions({
  request,
  query,
  recorder,
}: RoutedContext<CompletionQuery>): ClientStreamOptions {
  const { writeFailure } = apiFormatOf(query.endpoint)
  const includeUsage = isUsageVisible({ request, query })
  return { includeUsage, writeFailure: (error, lastEvent) => writeFailure(error, request.id, lastEvent), recorder }
}

/** Whether the stream reports usage to the client: the client requested it, or uses the aggregator's API, which always reports it. */
export function isUsageVisible({
  request: { target },
  query,
}: Pick<RoutedContext<CompletionQuery>, 'request' | 'query'>): boolean {
  return query.includeUsage || (target.kind === 'endpoint' && target.vendor === 'aggregator')
}

/**
 * Reads from the subscriber only when the client reads. A broken stream ends with an error event, so that no client treats it as
 * complete.
 */
export function createClientStream(
  subscriber: Subscriber,
  { includeUsage, writeFailure, recorder }: ClientStreamOptions,
): ClientStream {
  const { promise: ended, resolve } = Promise.withResolvers<ClientStreamEnd>()
  let isFinished = false
  let lastEvent: Uint8Array | null = null
  // The client may never read again, so it counts as disconnected from now on. If it reads, it gets the error.
  subscriber.onDisconnected = () => resolve({ kind: 'gone' })

  function finish(streamEnd: ClientStreamEnd): void {
    if (isFinished) return
    isFinished = true
    subscriber.leave()
    resolve(streamEnd)
  }

  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          for (;;) {
            const chunk = await subscriber.read()
            if (isFinished) return
            if (chunk === null) break
            lastEvent = chunk.lastEvent ?? lastEvent
            const bytes = includeUsage ? chunk.bytes : chunk.bytesWithoutUsage
            if (bytes.length === 0) continue
            recorder.recordFirstChunk()
            return controller.enqueue(bytes)
          }
          finish({ kind: 'complete' })
        } catch (error) {
          if (isFinished) return
          const failure = error instanceof ProxyError ? error : createError('upstreamInterrupted', null, error)
          controller.enqueue(writeFailure(failure, lastEvent))
          finish({ kind: 'failed', failure })
        }
        controller.close()
      },
      cancel() {
        finish({ kind: 'gone' })
      },
    },
    { highWaterMark: 0 },
  )
  return { body, ended }
}
