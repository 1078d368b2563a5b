/**
 * The installation's hook: an address that says of each request, and of each answer, whether it may pass. What it is asked, and when, the
 * pipeline knows.
 */
import { LRUCache } from 'lru-cache'
import type { HookConfig } from '../config/hook.ts'
import { createError } from '../errors/errors.ts'
import { limitConcurrency } from '../event-loop/limit-concurrency.ts'
import { startTimeout } from '../event-loop/timeouts.ts'
import type { JsonObject } from '../formats/json/canonical.ts'
import { createCircuitBreaker } from '../providers/circuit-breakers.ts'
import type { Log } from '../telemetry/log.ts'
import type { ProxyMetrics } from '../telemetry/proxy-metrics.ts'
import type { RequestTrace } from '../telemetry/tracing/request-trace.ts'
import { createHookRejection, type HookPhase, type HookResponse } from './hook-response.ts'
import { HookUnavailable, postToHook } from './post-to-hook.ts'
import { createSigner } from './sign-message.ts'

export interface HookRequest {
  phase: HookPhase
  /** What is known of the request besides. */
  metadata: JsonObject
  /** JSON, as is the answer; null for what is too long to be at hand. */
  request: Uint8Array | null
  response?: Uint8Array | null
  trace?: RequestTrace | undefined
}

/** What may pass. */
export interface HookDecision {
  /** The version of the rules under which it passed; null: the hook was not heard, and requests pass then. */
  policy: string | null
  /** Whether an answer may be given to others. */
  mayStore: boolean
}

export interface Hook extends Pick<HookConfig, 'streams' | 'maxBytes'> {
  /** Throws HookRejection; where the hook was not heard and nothing passes then, a 503, or a 413 for what is too long. */
  decide(question: HookRequest): Promise<HookDecision>
  /** Returns what `decide` returned for the same name shortly before, or returns now. Neither null nor a failure is kept. */
  decideOnce<Decision>(name: string, decide: () => Promise<Decision>): Promise<Decision>
}

export interface HookOptions {
  config: HookConfig
  log: Pick<Log, 'warn' | 'info'>
  metrics: Pick<ProxyMetrics, 'recordHookCall'>
}

/** Of one process. */
const MOST_AT_ONCE = 64
const MOST_WAITING = 10_000
/** Consecutive failures, over at least half of the time, after which it is left alone for so long. */
const CIRCUIT = { failures: 5, openMs: 2_000 }
const UNCHECKED: HookDecision = { policy: null, mayStore: true }

export function createHook({ config, log, metrics }: HookOptions): Hook {
  const { url, timeoutMs, maxBytes, onFailure } = config
  const sign = createSigner(config.secret)
  const inTurn = limitConcurrency(MOST_AT_ONCE, MOST_WAITING)
  let lastCause = ''
  const breaker = createCircuitBreaker({
    ...CIRCUIT,
    onOpen: waitMs => log.warn({ waitMs, cause: lastCause }, 'the hook is left alone'),
    onClose: () => log.info({}, 'the hook answers again'),
  })

  async function post(id: string, body: Uint8Array, place: Headers | null): Promise<HookResponse> {
    const entered = breaker.tryEnter()
    if ('waitMs' in entered) throw new LeftAlone(entered.waitMs)
    // Of all of it: whoever waits for its turn must not wait for longer.
    const limit = new AbortController()
    const endLimit = startTimeout(timeoutMs, () => limit.abort())
    try {
      const { signal } = limit
      const verdict = await inTurn(() => postToHook({ url, id, body, sign, traceHeaders: place, signal }))
      entered.settle('well')
      return verdict
    } catch (error) {
      // Where too many wait, it was not asked.
      entered.settle(error instanceof HookUnavailable ? 'failed' : 'unknown')
      lastCause = error instanceof HookUnavailable ? error.message : 'too many wait for it'
      throw error
    } finally {
      endLimit()
    }
  }

  async function ask(question: HookRequest, place: Headers | null): Promise<HookDecision> {
    const { phase } = question
    const body = writeQuestion(question)
    if (!body || body.length > maxBytes) {
      metrics.recordHookCall(phase, 'failed', 0)
      if (onFailure === 'open') return UNCHECKED
      throw createError('tooLargeForHook', { mostBytes: maxBytes })
    }
    const startedAtMs = performance.now()
    const verdict = await post(`msg_${crypto.randomUUID().replaceAll('-', '')}`, body, place).catch(error => ({
      error,
    }))
    metrics.recordHookCall(phase, 'error' in verdict ? 'failed' : verdict.verdict, performance.now() - startedAtMs)
    if ('error' in verdict) {
      if (onFailure === 'open') return UNCHECKED
      const waitMs = verdict.error instanceof LeftAlone ? verdict.error.waitMs : 1
      throw createError('hookUnavailable', { seconds: Math.max(1, Math.ceil(waitMs / 1000)) }, verdict.error)
    }
    if (verdict.verdict === 'refuse') throw createHookRejection(phase, verdict)
    return { policy: verdict.policy, mayStore: verdict.verdict === 'allow' }
  }

  return {
    streams: config.streams,
    maxBytes,
    decideOnce: createDecisions(),
    decide: question =>
      question.trace ? question.trace.traceHook(question.phase, place => ask(question, place)) : ask(question, null),
  }
}

/** Names of decisions that are kept. */
const MOST_DECISIONS = 1_000

function createDecisions(): Hook['decideOnce'] {
  const decisions = new LRUCache<string, Promise<unknown>>({ max: MOST_DECISIONS })
  return <Decision>(name: string, decide: () => Promise<Decision>) => {
    const kept = decisions.get(name) as Promise<Decision> | undefined
    if (kept) return kept
    const deciding = decide()
    decisions.set(name, deciding)
    const forget = () => decisions.delete(name)
    deciding.then(decision => decision ?? forget(), forget)
    return deciding
  }
}

class LeftAlone extends HookUnavailable {
  readonly waitMs: number

  constructor(waitMs: number) {
    super('it kept failing')
    this.waitMs = waitMs
  }
}

/** In place of parsing and writing what may be long, it is put in as it is. */
function writeQuestion({ phase, metadata, request, response }: HookRequest): Uint8Array | null {
  if (!request || response === null) return null
  const head = JSON.stringify({ type: phase, ...metadata }).slice(0, -1)
  const parts = [Buffer.from(`${head},"request":`), request]
  if (response) parts.push(Buffer.from(',"answer":'), response)
  return Buffer.concat([...parts, Buffer.from('}')])
}
