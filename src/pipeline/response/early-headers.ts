/**
 * Sends the headers of a streamed response early, with a comment, because reverse proxies close connections that are silent for a minute.
 * The body may still come from any model until its first part is sent. A failure after the headers becomes an event of the stream.
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

/** Default silence in milliseconds before the headers are sent. */
export const EARLY_HEADERS_AFTER_MS = 10_000
const KEEP_ALIVE = new TextEncoder().encode(': keep-alive\n\n')

export interface EarlyHeadersOptions {
  afterMs: number
  /** Returns the headers that are known when they are sent. */
  writeHeaders(): Promise<Record<string, string>>
  /** The bytes that are sent with the headers. */
  keepAlive: Uint8Array
  /** Returns the events that report a failure. */
  writeFailure(error: ProxyError): Uint8Array
}

export function createEarlyHeaders(
  { request, query, provider, recorder }: RequestContext<CompletionQuery>,
  admitted: AdmittedRequest,
  afterMs: number,
): EarlyHeadersOptions {
  const { writeFailure, keepAlive = KEEP_ALIVE } = apiFormatOf(query.endpoint)
  return {
    afterMs,
    keepAlive,
    async writeHeaders() {
      recorder.recordHeadersSent()
      const headers = { ...createMissHeaders(provider?.name ?? '', 0), ...SSE_HEADERS }
      await setRateLimitHeaders(admitted, { headers })
      return headers
    },
    writeFailure: error => writeFailure(error, request.id, null),
  }
}

/** Returns the response, or early headers with a body that continues with the response. Rejects if the response fails before that. */
export async function sendHeadersEarly(
  responding: Promise<ProxyResponse>,
  options: EarlyHeadersOptions,
): Promise<ProxyResponse> {
  const { promise: silence, resolve } = Promise.withResolvers<null>()
  const timer = setTimeout(resolve, options.afterMs, null)
  const response = await Promise.race([responding, silence]).finally(() => clearTimeout(timer))
  if (response) return response
  return { status: 200, headers: await options.writeHeaders(), body: continueWith(responding, options) }
}

function continueWith(
  responding: Promise<ProxyResponse>,
  { writeFailure, keepAlive }: EarlyHeadersOptions,
): ReadableStream<Uint8Array> {
  let isCancelled = false
  const chunks = readChunks(responding, writeFailure, keepAlive)
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next()
        if (isCancelled) return
        if (done) controller.close()
        else controller.enqueue(value)
      },
      async cancel(reason) {
        isCancelled = true
        const response = await responding.catch(() => null)
        if (response?.body instanceof ReadableStream && !response.body.locked) await response.body.cancel(reason)
        await chunks.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
}

async function* readChunks(
  responding: Promise<ProxyResponse>,
  writeFailure: EarlyHeadersOptions['writeFailure'],
  keepAlive: Uint8Array,
): AsyncGenerator<Uint8Array, undefined> {
  yield keepAlive
  try {
    const { status, body } = await responding
    const bytes = new Response(body as ReadableStream<Uint8Array>)
    if (status !== 200) {
      const text = await bytes.text()
      throw toProxyError(parseJson(text) ?? text)
    }
    if (bytes.body) yield* bytes.body
  } catch (error) {
    if (error instanceof ClientDisconnected) return
    yield writeFailure(error instanceof ProxyError ? error : createError('internal', null, error))
  }
}
