/** A client's stream: the events of its subscriber, read only as fast as the client reads. */

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
  /** Returns the events that report a broken stream. `last` is the last event that was sent, if any was. */
  writeFailure(error: ProxyError, last: Uint8Array | null): Uint8Array
  recorder: Pick<RequestRecorder, 'recordFirstChunk'>
}

export interface ClientStream {
  body: ReadableStream<Uint8Array>
  /** Never rejects. */
  ended: Promise<ClientStreamEnd>
}

/** The options that a request's own fields imply. */
export function createClientStreamOptions({
  request,
  query,
  recorder,
}: RoutedContext<CompletionQuery>): ClientStreamOptions {
  const { writeFailure } = apiFormatOf(query.endpoint)
  const includeUsage = isUsageVisible({ request, query })
  return { includeUsage, writeFailure: (error, last) => writeFailure(error, request.id, last), recorder }
}

/** Whether the client sees a stream's usage: it asked for it, or speaks to an aggregator, whose API always tells it. */
export function isUsageVisible({
  request: { target },
  query,
}: Pick<RoutedContext<CompletionQuery>, 'request' | 'query'>): boolean {
  return query.includeUsage || (target.kind === 'endpoint' && target.vendor === 'aggregator')
}

/**
 * Reads from the subscriber only when the client reads. A broken stream ends with an error event, so that no client takes it for
 * complete.
 */
export function createClientStream(
  subscriber: Subscriber,
  { includeUsage, writeFailure, recorder }: ClientStreamOptions,
): ClientStream {
  const { promise: ended, resolve } = Promise.withResolvers<ClientStreamEnd>()
  let isOver = false
  let last: Uint8Array | null = null
  // It may never read again: it counts as gone from now on. If it does, it finds the error.
  subscriber.onDisconnected = () => resolve({ kind: 'gone' })

  function end(how: ClientStreamEnd): void {
    if (isOver) return
    isOver = true
    subscriber.leave()
    resolve(how)
  }

  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          for (;;) {
            const lump = await subscriber.read()
            if (isOver) return
            if (lump === null) break
            last = lump.lastEvent ?? last
            const bytes = includeUsage ? lump.bytes : lump.bytesWithoutUsage
            if (bytes.length === 0) continue
            recorder.recordFirstChunk()
            return controller.enqueue(bytes)
          }
          end({ kind: 'complete' })
        } catch (error) {
          if (isOver) return
          const failure = error instanceof ProxyError ? error : createError('upstreamInterrupted', null, error)
          controller.enqueue(writeFailure(failure, last))
          end({ kind: 'failed', failure })
        }
        controller.close()
      },
      cancel() {
        end({ kind: 'gone' })
      },
    },
    { highWaterMark: 0 },
  )
  return { body, ended }
}
