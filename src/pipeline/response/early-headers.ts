/**
 * The head of a streamed response goes out after a silence, with a comment: reverse proxies cut connections on which nothing comes for a minute.
 * Until its first part has been sent, the response may still come from any model; a failure then becomes an event of the stream.
 */
import { ClientDisconnected, createError, ProxyError } from '../../errors/errors.ts'
import { apiFormatOf } from '../../formats/endpoint-formats.ts'
import { toProxyError } from '../../formats/errors/client-error.ts'
import { parseJson } from '../../formats/json/canonical.ts'
import { type AdmittedRequest, setRateLimitHeaders } from '../context/admit-request.ts'
import type { RequestContext } from '../context/request-context.ts'
import type { CompletionQuery } from '../request/query.ts'
import type { ProxyResponse } from '../request/request.ts'
import { createMissHeaders, SSE_HEADERS } from './response-headers.ts'

/** Silence before the head is sent, unless an option says otherwise. */
export const EARLY_HEADERS_AFTER_MS = 10_000
const KEEP_ALIVE = new TextEncoder().encode(': keep-alive\n\n')

export interface EarlyHeadersOptions {
  afterMs: number
  /** The headers, as far as they are known. Called when the head is sent. */
  writeHeaders(): Promise<Record<string, string>>
  /** Returns the events that report a failure. */
  writeFailure(error: ProxyError): Uint8Array
}

export function createEarlyHeaders(
  { request, query, provider, recorder }: RequestContext<CompletionQuery>,
  admitted: AdmittedRequest,
  afterMs: number,
): EarlyHeadersOptions {
  const { writeFailure } = apiFormatOf(query.endpoint)
  return {
    afterMs,
    async writeHeaders() {
      recorder.recordHeadersSent()
      const headers = { ...createMissHeaders(provider?.name ?? '', 0), ...SSE_HEADERS }
      await setRateLimitHeaders(admitted, { headers })
      return headers
    },
    writeFailure: error => writeFailure(error, request.id, null),
  }
}

/** Returns the response, or its head with a body that goes on with the response. Rejects with a failure that comes before the head. */
export async function sendHeadersEarly(
  responding: Promise<ProxyResponse>,
  head: EarlyHeadersOptions,
): Promise<ProxyResponse> {
  const { promise: silence, resolve } = Promise.withResolvers<null>()
  const timer = setTimeout(resolve, head.afterMs, null)
  const response = await Promise.race([responding, silence]).finally(() => clearTimeout(timer))
  if (response) return response
  return { status: 200, headers: await head.writeHeaders(), body: continueWith(responding, head) }
}

function continueWith(
  responding: Promise<ProxyResponse>,
  { writeFailure }: EarlyHeadersOptions,
): ReadableStream<Uint8Array> {
  let isCancelled = false
  const pieces = readPieces(responding, writeFailure)
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await pieces.next()
        if (isCancelled) return
        if (done) controller.close()
        else controller.enqueue(value)
      },
      async cancel(reason) {
        isCancelled = true
        const response = await responding.catch(() => null)
        if (response?.body instanceof ReadableStream && !response.body.locked) await response.body.cancel(reason)
        await pieces.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
}

async function* readPieces(
  responding: Promise<ProxyResponse>,
  writeFailure: EarlyHeadersOptions['writeFailure'],
): AsyncGenerator<Uint8Array, undefined> {
  yield KEEP_ALIVE
  try {
    const { status, body } = await responding
    const bytes = new Response(body as ReadableStream<Uint8Array>)
    if (status !== 200) throw describeError(await bytes.text())
    if (bytes.body) yield* bytes.body
  } catch (error) {
    if (error instanceof ClientDisconnected) return
    yield writeFailure(error instanceof ProxyError ? error : createError('internal', null, error))
  }
}

/** A provider's own error, which would have been the response. */
function describeError(text: string): ProxyError {
  return toProxyError(parseJson(text) ?? text)
}
