/**
 * The installation's hook: an HTTP endpoint of the operator that accepts or rejects each request and each response. The pipeline decides
 * when the hook is called, and with what.
 */
import { LRUCache } from 'lru-cache'
import type { HookConfig } from '../config/hook.ts'
import { createError } from '../errors/errors.ts'
import { limitConcurrency } from '../event-loop/limit-concurrency.ts'
import { startTimeout } from '../event-loop/timeouts.ts'
import type { JsonObject } from '../formats/json/canonical.ts'
import { CircuitBreaker } from '../providers/circuit-breaker.ts'
import type { Log } from '../telemetry/log.ts'
import type { ProxyMetrics } from '../telemetry/proxy-metrics.ts'
import type { RequestTrace } from '../telemetry/tracing/request-trace.ts'
import { createHookRejection, type HookPhase, type HookResponse, HookUnavailable, postToHook } from './hook-response.ts'
import { createSigner } from './sign-message.ts'

export interface HookRequest {
  phase: HookPhase
  /** Further fields of the payload: key, project, endpoint, model and the like. */
  metadata: JsonObject
  /** The request body as JSON; null if it is too long to be held in memory. The same holds for `response`. */
  request: Uint8Array | null
  response?: Uint8Array | null
  trace?: RequestTrace | undefined
}

/** The decision about a request or response that is accepted. */
export interface HookDecision {
  /** The version of the rules under which it was accepted; null if the hook was unreachable and requests are accepted in that case. */
  policy: string | null
  /** Whether the response may be cached and served to other callers. */
  mayStore: boolean
}

export interface Hook extends Pick<HookConfig, 'streams' | 'maxBytes'> {
  /**
   * Calls the hook. Throws HookRejection if the hook rejects. If the hook is unreachable and the configuration rejects requests in that
   * case, throws a 503, or a 413 for a payload over `maxBytes`.
   */
  decide(request: HookRequest): Promise<HookDecision>
  /** Returns the stored decision for `name`, or calls `decide` and stores its result. Neither null nor a failure is stored. */
  decideOnce<Decision>(name: string, decide: () => Promise<Decision>): Promise<Decision>
}

export interface HookOptions {
  config: HookConfig
  log: Pick<Log, 'warn' | 'info'>
  metrics: Pick<ProxyMetrics, 'recordHookCall'>
  /** The time for which a hook that keeps failing is not called; two seconds by default. */
  pauseMs?: number | undefined
}

/** Calls of one process that run at the same time, and calls that wait for one of them to end. */
const MAX_CONCURRENT_CALLS = 64
const MAX_QUEUED_CALLS = 10_000
/** The circuit opens after this many consecutive failures within at least half of the pause, and stays open for the pause. */
const MAX_FAILURES = 5
const DEFAULT_PAUSE_MS = 2_000
const UNCHECKED: HookDecision = { policy: null, mayStore: true }

export function createHook({ config, log, metrics, pauseMs = DEFAULT_PAUSE_MS }: HookOptions): Hook {
  const { url, timeoutMs, maxBytes, onFailure } = config
  const sign = createSigner(config.secret)
  const runLimited = limitConcurrency(MAX_CONCURRENT_CALLS, MAX_QUEUED_CALLS)
  let lastCause = ''
  const breaker = new CircuitBreaker({
    failures: MAX_FAILURES,
    openMs: pauseMs,
    onOpen: waitMs => log.warn({ waitMs, cause: lastCause }, 'the hook keeps failing and is not called for now'),
    onClose: () => log.info({}, 'the hook responds again'),
  })

  async function post(id: string, body: Uint8Array, traceHeaders: Headers | null): Promise<HookResponse> {
    const waitMs = breaker.waitMs()
    if (waitMs > 0) throw new CircuitOpen(waitMs)
    const attempt = breaker.enter()
    // The time limit includes the wait in the queue.
    const timeout = new AbortController()
    const clearTimer = startTimeout(timeoutMs, () => timeout.abort())
    try {
      const { signal } = timeout
      const response = await runLimited(() => postToHook({ url, id, body, sign, traceHeaders, signal }))
      attempt.settle('well')
      return response
    } catch (error) {
      // If the queue is full, the hook was not called.
      attempt.settle(error instanceof HookUnavailable ? 'failed' : 'unknown')
      lastCause = error instanceof HookUnavailable ? error.message : 'too many calls are waiting for the hook'
      throw error
    } finally {
      clearTimer()
    }
  }

  async function callHook(hookRequest: HookRequest, traceHeaders: Headers | null): Promise<HookDecision> {
    const { phase } = hookRequest
    const body = encodePayload(hookRequest)
    if (!body || body.length > maxBytes) {
      metrics.recordHookCall(phase, 'failed', 0)
      if (onFailure === 'open') return UNCHECKED
      throw createError('tooLargeForHook', { mostBytes: maxBytes })
    }
    const calledAtMs = performance.now()
    const id = `msg_${crypto.randomUUID().replaceAll('-', '')}`
    const result = await post(id, body, traceHeaders).catch(error => ({ error }))
    metrics.recordHookCall(phase, 'error' in result ? 'failed' : result.verdict, performance.now() - calledAtMs)
    if ('error' in result) {
      if (onFailure === 'open') return UNCHECKED
      const waitMs = result.error instanceof CircuitOpen ? result.error.waitMs : 1
      throw createError('hookUnavailable', { seconds: Math.max(1, Math.ceil(waitMs / 1000)) }, result.error)
    }
    if (result.verdict === 'refuse') throw createHookRejection(phase, result)
    return { policy: result.policy, mayStore: result.verdict === 'allow' }
  }

  return {
    streams: config.streams,
    maxBytes,
    decideOnce: createDecisionCache(),
    decide: hookRequest =>
      hookRequest.trace
        ? hookRequest.trace.traceHook(hookRequest.phase, traceHeaders => callHook(hookRequest, traceHeaders))
        : callHook(hookRequest, null),
  }
}

/** Decisions that one process stores; the least recently used are evicted. */
const MAX_STORED_DECISIONS = 1_000

function createDecisionCache(): Hook['decideOnce'] {
  const decisions = new LRUCache<string, Promise<unknown>>({ max: MAX_STORED_DECISIONS })
  return <Decision>(name: string, decide: () => Promise<Decision>) => {
    const stored = decisions.get(name) as Promise<Decision> | undefined
    if (stored) return stored
    const pending = decide()
    decisions.set(name, pending)
    const remove = () => decisions.delete(name)
    pending.then(decision => decision ?? remove(), remove)
    return pending
  }
}

class CircuitOpen extends HookUnavailable {
  readonly waitMs: number

  constructor(waitMs: number) {
    super('the hook is not called for now, because it kept failing')
    this.waitMs = waitMs
  }
}

/** Inserts the request and response as they are: parsing and serializing long bodies again would take long. Null if one is missing. */
function encodePayload({ phase, metadata, request, response }: HookRequest): Uint8Array | null {
  if (!request || response === null) return null
  const head = JSON.stringify({ type: phase, ...metadata }).slice(0, -1)
  const parts = [Buffer.from(`${head},"request":`), request]
  if (response) parts.push(Buffer.from(',"answer":'), response)
  return Buffer.concat([...parts, Buffer.from('}')])
}
