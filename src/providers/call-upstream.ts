/** One HTTP call to an upstream, within limits of time and size, its failures told apart. */
import { ProxyError } from '../errors.ts'
import { inPieces, LONGEST_WHOLE_BYTES } from '../event-loop/in-pieces.ts'
import { createYieldTurn } from '../event-loop/yield.ts'
import { type AnswerBounds, type CountBytes, createByteCounter } from './answer-bounds.ts'
import type { ConnectionProbe } from './connection-probe.ts'
import { returnedHeaders } from './forwarded-headers.ts'
import { redactSecret } from './redact-secret.ts'
import type { UpstreamAnswer } from './upstream.ts'
import { broken, silentInTime, unconnectedInTime, unreachable } from './upstream-failure.ts'

export { broken }

export interface UpstreamLimits extends AnswerBounds {
  connectTimeoutMs: number
  /** From the request to the first byte of the answer's body. */
  firstByteTimeoutMs: number
  /** Between two reads of the body. */
  idleTimeoutMs: number
}

export interface UpstreamCall {
  /** For messages. */
  provider: string
  url: string
  headers: Headers
  /** The credential among the headers, which no error may show. */
  secret: string
  /** By default POST. */
  method?: 'GET' | 'POST' | 'DELETE'
  body: string | Uint8Array | null
  signal: AbortSignal
  limits: UpstreamLimits
  probe: ConnectionProbe
}

/** Resolves with the status and headers; throws an UpstreamFailure, 502 or 504, or the abort reason when `signal` was aborted. */
export async function callUpstream(call: UpstreamCall): Promise<UpstreamAnswer> {
  const { provider, limits, signal } = call
  const startedAt = performance.now()
  const ours = new AbortController()
  const giveUp = (error: ProxyError) => ours.abort(error)
  const firstByteTimer = setTimeout(
    () => giveUp(silentInTime(provider, 'first byte', limits.firstByteTimeoutMs)),
    limits.firstByteTimeoutMs,
  )
  const endProbe = call.probe.watch(call.url, limits.connectTimeoutMs, () =>
    giveUp(unconnectedInTime(provider, limits.connectTimeoutMs)),
  )
  try {
    const response = await fetch(call.url, {
      method: call.method ?? 'POST',
      headers: call.headers,
      ...writeBody(call),
      // A redirect could carry the key anywhere.
      redirect: 'manual',
      signal: AbortSignal.any([signal, ours.signal]),
      // Bun's own limit of five minutes; ours are above.
      timeout: false,
    } as RequestInit)
    call.probe.noteAlive(call.url)
    const unusable = describeUnusable(response.status)
    if (unusable !== null) {
      await response.body?.cancel()
      throw broken(provider, unusable, response.status)
    }
    const firstByteLimitMs = Math.max(1, limits.firstByteTimeoutMs - (performance.now() - startedAt))
    const counter = createByteCounter(response.headers.get('content-type'), limits)
    const body = readWithin(response.body, call, { ours, counter, firstByteLimitMs })
    return {
      status: response.status,
      headers: returnedHeaders(response.headers),
      body: response.status >= 400 ? redactSecret(body, call.secret) : body,
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (ours.signal.aborted) throw ours.signal.reason
    if (error instanceof ProxyError) throw error
    throw unreachable(provider, error)
  } finally {
    clearTimeout(firstByteTimer)
    endProbe()
  }
}

/** A long body goes out piece by piece, on a connection of its own: a stale one could not be told from a refusal half-way. */
function writeBody({ body, headers }: UpstreamCall): Pick<RequestInit, 'body' | 'keepalive'> {
  if (body === null) return {}
  if (typeof body === 'string' || body.length <= LONGEST_WHOLE_BYTES) return { body }
  // Else it would be sent in chunks, which not every upstream takes.
  headers.set('content-length', String(body.length))
  return { body: inPieces(body), keepalive: false }
}

/** What is wrong with a status that no client can be told; null for the others. */
function describeUnusable(status: number): string | null {
  if (status >= 300 && status < 400) return 'answered with a redirect, which is not followed'
  if (status < 200 || status > 599) return 'answered with a status that HTTP does not have'
  return status === 204 || status === 205 ? 'answered with nothing' : null
}

interface Reading {
  /** Aborted by us, for a reason that is told. */
  ours: AbortController
  counter: CountBytes
  firstByteLimitMs: number
}

/** What was read at once is passed on in pieces of this: the events of one are told apart in some 3 ms. */
const PIECE_BYTES = 131_072

/** The body, chunk by chunk as it is asked for; a read that takes too long, brings too much, or breaks off, throws. */
function readWithin(
  body: ReadableStream<Uint8Array> | null,
  { provider, limits, signal }: UpstreamCall,
  { ours, counter, firstByteLimitMs }: Reading,
): ReadableStream<Uint8Array> {
  const reader = body?.getReader()
  let limitMs = firstByteLimitMs
  let waitingFor = 'first byte'
  let rest: Uint8Array = new Uint8Array(0)
  const yieldTurn = createYieldTurn()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (!reader) return controller.close()
        // What has arrived can be read on and on.
        await yieldTurn()
        if (rest.length > 0) {
          controller.enqueue(rest.subarray(0, PIECE_BYTES))
          rest = rest.subarray(PIECE_BYTES)
          return
        }
        const timer = setTimeout(() => ours.abort(silentInTime(provider, waitingFor, limitMs)), limitMs)
        try {
          const { done, value } = await reader.read()
          limitMs = limits.idleTimeoutMs
          waitingFor = 'next byte'
          if (done) return controller.close()
          const excess = counter(value)
          if (excess !== null) ours.abort(broken(provider, excess))
          ours.signal.throwIfAborted()
          controller.enqueue(value.subarray(0, PIECE_BYTES))
          rest = value.subarray(PIECE_BYTES)
        } catch (error) {
          if (signal.aborted) throw signal.reason
          if (ours.signal.aborted) throw ours.signal.reason
          throw broken(provider, 'broke off its answer', undefined, error)
        } finally {
          clearTimeout(timer)
        }
      },
      async cancel(reason) {
        ours.abort(reason)
        await reader?.cancel(reason).catch(() => {})
      },
    },
    // Nothing is read that nobody asked for: a slow client slows upstream.
    { highWaterMark: 0 },
  )
}
