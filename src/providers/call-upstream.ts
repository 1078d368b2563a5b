/** Calls an upstream over HTTP, within bounds of time and of its answer. */
import { ProxyError } from '../errors/errors.ts'
import { MAX_UNCHUNKED_BYTES, streamInChunks } from '../event-loop/stream-in-chunks.ts'
import { createWaitTimer, onAbort } from '../event-loop/timeouts.ts'
import { yieldBeforeRead } from '../event-loop/work-scheduler.ts'
import { hideEarlier, openBody } from './credentials/body-filter.ts'
import { type CredentialRedactor, type Credentials, redactHeaders } from './credentials/credentials.ts'
import { hasNoStore, pickReturnedHeaders } from './forwarded-headers.ts'
import { type ByteCounter, createByteCounter, type ResponseSizeLimits } from './read-bytes.ts'
import type { UpstreamResponse } from './upstream.ts'
import { brokenResponseError, connectTimeoutError, responseTimeoutError, unreachableError } from './upstream-failure.ts'

export interface UpstreamLimits extends ResponseSizeLimits {
  connectTimeoutMs: number
  /** From the request to the first byte of the response's body. */
  firstByteTimeoutMs: number
  /** Between two reads of the body. */
  idleTimeoutMs: number
}

export interface UpstreamCall {
  /** The provider's, for messages. */
  name: string
  url: string
  headers: Headers
  /** What the headers hold of them, and nothing that comes back may show. */
  credentials: Credentials
  /** POST by default. */
  method?: 'GET' | 'POST' | 'DELETE'
  body: string | Uint8Array | null
  /** Those of earlier attempts, which nothing that comes back may show either. */
  earlierCredentials?: readonly Credentials[] | undefined
  signal: AbortSignal
  limits: UpstreamLimits
  probe: ConnectionProbe
}

/** Resolves to status and headers. Throws an UpstreamFailure, 502 or 504, or the abort reason when `signal` was aborted. */
export async function callUpstream(call: UpstreamCall): Promise<UpstreamResponse> {
  const { name: provider, limits, signal, credentials } = call
  const startedAt = performance.now()
  const ours = new AbortController()
  const giveUp = (error: ProxyError) => ours.abort(error)
  // AbortSignal.any would take 4 µs a call.
  onAbort(signal, () => ours.abort(signal.reason))
  const firstByteTimer = setTimeout(
    () => giveUp(responseTimeoutError(provider, 'first byte', limits.firstByteTimeoutMs)),
    limits.firstByteTimeoutMs,
  )
  const endProbe = call.probe.watch(call.url, limits.connectTimeoutMs, () =>
    giveUp(connectTimeoutError(provider, limits.connectTimeoutMs)),
  )
  try {
    const response = await fetch(call.url, {
      method: call.method ?? 'POST',
      headers: call.headers,
      ...writeBody(call),
      // A redirect could carry the key anywhere.
      redirect: 'manual',
      signal: ours.signal,
      // Turns off Bun's own limit of five minutes; the limits above apply.
      timeout: false,
    } as RequestInit)
    const headAtMs = performance.now()
    call.probe.markReachable(call.url)
    const unusable = describeUnusable(response.status)
    if (unusable !== null) {
      await response.body?.cancel()
      throw brokenResponseError(provider, unusable, response.status)
    }
    const firstByteLimitMs = Math.max(1, limits.firstByteTimeoutMs - (performance.now() - startedAt))
    const counter = createByteCounter(response.headers.get('content-type'), limits)
    const headers = pickReturnedHeaders(response.headers)
    const filter = openBody(credentials, { headers })
    redactHeaders(headers, credentials)
    const isForbidden = hasNoStore(response.headers)
    const answer = {
      status: response.status,
      headers,
      headersAtMs: headAtMs,
      body: readWithin(response.body, call, { ours, counter, filter, firstByteLimitMs }),
      isStorable: () => !isForbidden && !filter.hasFound,
      credentials,
    }
    return hideEarlier(answer, call.earlierCredentials ?? [])
  } catch (error) {
    if (signal.aborted) throw signal.reason
    const failure = ours.signal.aborted ? ours.signal.reason : error
    throw Object.assign(failure instanceof ProxyError ? failure : unreachableError(provider, failure), { credentials })
  } finally {
    clearTimeout(firstByteTimer)
    endProbe()
  }
}

/** A long body is streamed, on a new connection: on a reused one, a stale connection could not be told from a refusal halfway. */
function writeBody({ body, headers }: UpstreamCall): Pick<RequestInit, 'body' | 'keepalive'> {
  if (body === null) return {}
  if (typeof body === 'string' || body.length <= MAX_UNCHUNKED_BYTES) return { body }
  // Without it, the body would be chunked, which not every upstream accepts.
  headers.set('content-length', `${body.length}`)
  return { body: streamInChunks(body), keepalive: false }
}

/** Describes a status that cannot be passed to a client; null for any other. */
function describeUnusable(status: number): string | null {
  if (status >= 300 && status < 400) return 'answered with a redirect, which is not followed'
  if (status < 200 || status > 599) return 'answered with a status that HTTP does not have'
  return status === 204 || status === 205 ? 'answered with nothing' : null
}

interface Reading {
  /** Aborted by the proxy, with the reason to report. */
  ours: AbortController
  counter: ByteCounter
  filter: CredentialRedactor
  firstByteLimitMs: number
}

/** Size of the pieces a large read is passed on in: the events in one take some 2 ms to separate, and each may wait for its client. */
const PIECE_BYTES = 65_536

/** The body with backpressure; a read that takes too long, is too large, or breaks off, throws. */
function readWithin(
  body: ReadableStream<Uint8Array> | null,
  { name: provider, limits, signal }: UpstreamCall,
  { ours, counter, filter, firstByteLimitMs }: Reading,
): ReadableStream<Uint8Array> {
  const reader = body?.getReader()
  let limitMs = firstByteLimitMs
  let waitingFor = 'first byte'
  let rest: Uint8Array | null = null
  const silence = createWaitTimer(() => ours.abort(responseTimeoutError(provider, waitingFor, limitMs)))

  /** Returns null at the end. */
  async function readMore(): Promise<Uint8Array | null> {
    if (!reader) return null
    silence.begin(limitMs)
    const { done, value } = await reader.read()
    silence.end()
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
    const turn = yieldBeforeRead(piece.length)
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
            silence.close()
            return controller.close()
          }
        } catch (error) {
          silence.close()
          if (signal.aborted) throw signal.reason
          if (ours.signal.aborted) throw ours.signal.reason
          throw brokenResponseError(provider, 'broke off its answer', undefined, error)
        }
      },
      async cancel(reason) {
        silence.close()
        ours.abort(reason)
        await reader?.cancel(reason).catch(() => {})
      },
    },
    // Reads only on demand: a slow client slows the upstream.
    { highWaterMark: 0 },
  )
}

/** An address that responded this recently counts as reachable. */
const ALIVE_MS = 10_000

/** A connect timeout, which fetch lacks: for an address without recent responses, a bare connection is tried beside the request. */
export interface ConnectionProbe {
  /** Calls `onTimeout` unless the address of `url` accepts a connection in time, or the returned function is called first. */
  watch(url: string, timeoutMs: number, onTimeout: () => void): () => void
  /** Notes that the address just responded. */
  markReachable(url: string): void
}

export function createConnectionProbe(): ConnectionProbe {
  const aliveAtMs = new Map<string, number>()

  return {
    watch(url, timeoutMs, onTimeout) {
      const { origin, hostname, port, protocol } = new URL(url)
      if (performance.now() - (aliveAtMs.get(origin) ?? Number.NEGATIVE_INFINITY) < ALIVE_MS) return () => {}
      const timer = setTimeout(onTimeout, timeoutMs)
      const stop = () => clearTimeout(timer)
      // Refused or unresolvable: the request itself fails with a better error.
      Bun.connect({
        hostname: hostname.replace(/^\[|\]$/g, ''),
        port: Number(port) || (protocol === 'https:' ? 443 : 80),
        socket: {
          open(socket) {
            stop()
            socket.end()
          },
          data() {},
          error: stop,
          connectError: stop,
        },
      }).catch(stop)
      return stop
    },
    markReachable(url) {
      aliveAtMs.set(new URL(url).origin, performance.now())
    },
  }
}
