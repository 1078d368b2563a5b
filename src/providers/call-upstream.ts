/** Calls an upstream over HTTP, and limits the time it may take and the size of its response. */
import { ProxyError } from '../errors/errors.ts'
import { MAX_UNCHUNKED_BYTES, streamInChunks } from '../event-loop/chunks.ts'
import { createWaitTimer, onAbort } from '../event-loop/timeouts.ts'
import { yieldBeforeForwarding } from '../event-loop/work-scheduler.ts'
import type { ConnectionProbe } from './connection-probe.ts'
import { createBodyRedactor, hideEarlier } from './credentials/body-filter.ts'
import { type CredentialRedactor, type Credentials, redactHeaders } from './credentials/credentials.ts'
import { hasNoStore, pickReturnedHeaders } from './forwarded-headers.ts'
import { createResponseSizeCheck, type ResponseSizeCheck, type ResponseSizeLimits } from './read-bytes.ts'
import type { StreamTimeouts } from './time-limits.ts'
import type { UpstreamResponse } from './upstream.ts'
import { brokenResponseError, connectTimeoutError, responseTimeoutError, unreachableError } from './upstream-failure.ts'

export interface UpstreamLimits extends ResponseSizeLimits, StreamTimeouts {
  connectTimeoutMs: number
}

export interface UpstreamCall {
  /** The provider's name in messages. */
  name: string
  url: string
  headers: Headers
  /** The credentials in `headers`. They are redacted in the response. */
  credentials: Credentials
  /** The default is POST. */
  method?: 'GET' | 'POST' | 'DELETE'
  body: string | Uint8Array | null
  /** Credentials of earlier attempts. They are redacted in the response, too. */
  earlierCredentials?: readonly Credentials[] | undefined
  signal: AbortSignal
  limits: UpstreamLimits
  /** The longest time from the request to the end of the response; no limit by default. */
  responseTimeoutMs?: number | undefined
  probe: ConnectionProbe
}

/** Resolves when the response headers have arrived. Throws an UpstreamFailure (502 or 504), or the abort reason when `signal` was aborted. */
export async function callUpstream(call: UpstreamCall): Promise<UpstreamResponse> {
  const { name: provider, limits, signal, credentials, responseTimeoutMs = Number.POSITIVE_INFINITY } = call
  const startedAt = performance.now()
  const ours = new AbortController()
  const giveUp = (error: ProxyError) => ours.abort(error)
  // AbortSignal.any would take 4 µs per call.
  onAbort(signal, () => ours.abort(signal.reason))
  const firstByteTimer = setTimeout(
    () => giveUp(responseTimeoutError(provider, 'first byte', limits.firstByteTimeoutMs)),
    limits.firstByteTimeoutMs,
  )
  const responseTimer = createWaitTimer(() =>
    giveUp(responseTimeoutError(provider, 'complete response', responseTimeoutMs, true)),
  )
  responseTimer.begin(responseTimeoutMs)
  const endProbe = call.probe.watch(call.url, limits.connectTimeoutMs, () =>
    giveUp(connectTimeoutError(provider, limits.connectTimeoutMs)),
  )
  try {
    const response = await fetch(call.url, {
      method: call.method ?? 'POST',
      headers: call.headers,
      ...writeBody(call),
      // A followed redirect could send the key to any host.
      redirect: 'manual',
      signal: ours.signal,
      // Turns off Bun's own limit of five minutes; the limits above apply.
      timeout: false,
    } as RequestInit)
    const headersAtMs = performance.now()
    call.probe.markReachable(call.url)
    const unusable = describeUnusable(response.status)
    if (unusable !== null) {
      await response.body?.cancel()
      throw brokenResponseError(provider, unusable, response.status)
    }
    const firstByteLimitMs = Math.max(1, limits.firstByteTimeoutMs - (performance.now() - startedAt))
    const counter = createResponseSizeCheck(response.headers.get('content-type'), limits)
    const headers = pickReturnedHeaders(response.headers)
    const filter = createBodyRedactor(credentials, { headers })
    redactHeaders(headers, credentials)
    const isNoStore = hasNoStore(response.headers)
    const redacted = {
      status: response.status,
      headers,
      headersAtMs,
      body: readWithLimits(response.body, call, {
        ours,
        counter,
        filter,
        firstByteLimitMs,
        onEnd: responseTimer.close,
      }),
      isStorable: () => !isNoStore && !filter.hasFound,
      credentials,
    }
    return hideEarlier(redacted, call.earlierCredentials ?? [])
  } catch (error) {
    responseTimer.close()
    if (signal.aborted) throw signal.reason
    const failure = ours.signal.aborted ? ours.signal.reason : error
    throw Object.assign(failure instanceof ProxyError ? failure : unreachableError(provider, failure), { credentials })
  } finally {
    clearTimeout(firstByteTimer)
    endProbe()
  }
}

/** Streams a long body on a new connection: on a reused one, a stale connection would look like a rejection halfway through the body. */
function writeBody({ body, headers }: UpstreamCall): Pick<RequestInit, 'body' | 'keepalive'> {
  if (body === null) return {}
  if (typeof body === 'string' || body.length <= MAX_UNCHUNKED_BYTES) return { body }
  // Without this header the body would be sent chunked, which not every upstream accepts.
  headers.set('content-length', `${body.length}`)
  return { body: streamInChunks(body), keepalive: false }
}

/** Returns a description of a status that cannot be forwarded to a client; null for any other status. */
function describeUnusable(status: number): string | null {
  if (status >= 300 && status < 400) return 'answered with a redirect, which is not followed'
  if (status < 200 || status > 599) return 'answered with a status that is not valid in HTTP'
  return status === 204 || status === 205 ? 'answered without a body' : null
}

interface BodyReading {
  /** The proxy aborts it with the error to report. */
  ours: AbortController
  counter: ResponseSizeCheck
  filter: CredentialRedactor
  firstByteLimitMs: number
  /** Called when the body has ended, has failed or is no longer read. */
  onEnd(): void
}

/** A larger read is forwarded in pieces of this size. The events of one piece take about 2 ms to split, and each piece may wait for its client. */
const PIECE_BYTES = 65_536

/** Returns the body with backpressure. Reading throws when a read takes too long, the body is too large, or it breaks off. */
function readWithLimits(
  body: ReadableStream<Uint8Array> | null,
  { name: provider, limits, signal }: UpstreamCall,
  { ours, counter, filter, firstByteLimitMs, onEnd }: BodyReading,
): ReadableStream<Uint8Array> {
  const reader = body?.getReader()
  let limitMs = firstByteLimitMs
  let waitingFor = 'first byte'
  let rest: Uint8Array | null = null
  const readTimer = createWaitTimer(() => ours.abort(responseTimeoutError(provider, waitingFor, limitMs)))

  function close(): void {
    readTimer.close()
    onEnd()
  }

  /** Returns null at the end. */
  async function readMore(): Promise<Uint8Array | null> {
    if (!reader) return null
    readTimer.begin(limitMs)
    const { done, value } = await reader.read()
    readTimer.end()
    limitMs = limits.idleTimeoutMs
    waitingFor = 'next byte'
    return done ? null : value
  }

  async function readPiece(): Promise<Uint8Array | null> {
    const bytes = rest ?? (await readMore())
    if (!bytes) return null
    const isLong = bytes.length > PIECE_BYTES
    rest = isLong ? bytes.subarray(PIECE_BYTES) : null
    const piece = isLong ? bytes.subarray(0, PIECE_BYTES) : bytes
    const turn = yieldBeforeForwarding(piece.length)
    if (turn) await turn
    const excess = counter(piece)
    if (excess !== null) ours.abort(brokenResponseError(provider, excess))
    ours.signal.throwIfAborted()
    return piece
  }

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          for (;;) {
            const piece = await readPiece()
            const bytes = piece ? filter.push(piece) : filter.end()
            if (bytes.length > 0) controller.enqueue(bytes)
            if (piece && bytes.length === 0) continue
            if (piece) return
            close()
            return controller.close()
          }
        } catch (error) {
          close()
          if (signal.aborted) throw signal.reason
          if (ours.signal.aborted) throw ours.signal.reason
          throw brokenResponseError(provider, 'broke off its answer', undefined, error)
        }
      },
      async cancel(reason) {
        close()
        ours.abort(reason)
        await reader?.cancel(reason).catch(() => {})
      },
    },
    // Reads only on demand: a slow client slows the upstream.
    { highWaterMark: 0 },
  )
}
