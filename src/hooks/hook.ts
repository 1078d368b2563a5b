/**
 * The installation's hook: an address that says of each request, and of each answer, whether it may pass. What it is asked, and when, the
 * pipeline knows.
 */
import { LRUCache } from 'lru-cache'
import type { HookConfig } from '../config/hook.ts'
import { refuse } from '../errors/errors.ts'
import { limitConcurrency } from '../event-loop/limit-concurrency.ts'
import { startTimeLimit } from '../event-loop/time-limit.ts'
import type { JsonObject } from '../formats/json/canonical.ts'
import { createBreaker } from '../providers/circuits.ts'
import type { Log } from '../telemetry/log.ts'
import type { ProxyMetrics } from '../telemetry/proxy-metrics.ts'
import type { RequestTrace } from '../telemetry/tracing/request-trace.ts'
import { postQuestion, Unheard } from './post-question.ts'
import { createSigner } from './sign-message.ts'
import { refusalOf, type Verdict, type When } from './verdict.ts'

export interface Question {
  when: When
  /** What is known of the request besides. */
  about: JsonObject
  /** JSON, as is the answer; null for what is too long to be at hand. */
  request: Uint8Array | null
  answer?: Uint8Array | null
  trace?: RequestTrace | undefined
}

/** What may pass. */
export interface Passed {
  /** The version of the rules under which it passed; null: the hook was not heard, and requests pass then. */
  policy: string | null
  /** Whether an answer may be given to others. */
  mayStore: boolean
}

export interface Hook extends Pick<HookConfig, 'streams' | 'mostBytes'> {
  /** Throws HookRefusal; where the hook was not heard and nothing passes then, a 503, or a 413 for what is too long. */
  ask(question: Question): Promise<Passed>
  /** Returns what `decide` returned for the same name shortly before, or returns now. Neither null nor a failure is kept. */
  once<Decision>(name: string, decide: () => Promise<Decision>): Promise<Decision>
}

export interface HookOptions {
  config: HookConfig
  log: Pick<Log, 'warn' | 'info'>
  metrics: Pick<ProxyMetrics, 'noteHook'>
}

/** Of one process. */
const MOST_AT_ONCE = 64
const MOST_WAITING = 10_000
/** Consecutive failures, over at least half of the time, after which it is left alone for so long. */
const CIRCUIT = { failures: 5, openMs: 2_000 }
const UNCHECKED: Passed = { policy: null, mayStore: true }

export function createHook({ config, log, metrics }: HookOptions): Hook {
  const { url, timeoutMs, mostBytes, onFailure } = config
  const sign = createSigner(config.secret)
  const inTurn = limitConcurrency(MOST_AT_ONCE, MOST_WAITING)
  let lastCause = ''
  const breaker = createBreaker({
    ...CIRCUIT,
    onOpen: waitMs => log.warn({ waitMs, cause: lastCause }, 'the hook is left alone'),
    onClose: () => log.info({}, 'the hook answers again'),
  })

  async function post(id: string, body: Uint8Array, place: Headers | null): Promise<Verdict> {
    const entered = breaker.enter()
    if ('waitMs' in entered) throw new LeftAlone(entered.waitMs)
    // Of all of it: whoever waits for its turn must not wait for longer.
    const limit = new AbortController()
    const endLimit = startTimeLimit(timeoutMs, () => limit.abort())
    try {
      const { signal } = limit
      const verdict = await inTurn(() => postQuestion({ url, id, body, sign, place, signal }))
      entered.settle('well')
      return verdict
    } catch (error) {
      // Where too many wait, it was not asked.
      entered.settle(error instanceof Unheard ? 'failed' : 'unknown')
      lastCause = error instanceof Unheard ? error.message : 'too many wait for it'
      throw error
    } finally {
      endLimit()
    }
  }

  async function ask(question: Question, place: Headers | null): Promise<Passed> {
    const { when } = question
    const body = writeQuestion(question)
    if (!body || body.length > mostBytes) {
      metrics.noteHook(when, 'failed', 0)
      if (onFailure === 'open') return UNCHECKED
      throw refuse('tooLongToCheck', { mostBytes })
    }
    const startedAtMs = performance.now()
    const verdict = await post(`msg_${crypto.randomUUID().replaceAll('-', '')}`, body, place).catch(error => ({
      error,
    }))
    metrics.noteHook(when, 'error' in verdict ? 'failed' : verdict.verdict, performance.now() - startedAtMs)
    if ('error' in verdict) {
      if (onFailure === 'open') return UNCHECKED
      const waitMs = verdict.error instanceof LeftAlone ? verdict.error.waitMs : 1
      throw refuse('hookUnavailable', { seconds: Math.max(1, Math.ceil(waitMs / 1000)) }, verdict.error)
    }
    if (verdict.verdict === 'refuse') throw refusalOf(when, verdict)
    return { policy: verdict.policy, mayStore: verdict.verdict === 'allow' }
  }

  return {
    streams: config.streams,
    mostBytes,
    once: createDecisions(),
    ask: question =>
      question.trace ? question.trace.traceHook(question.when, place => ask(question, place)) : ask(question, null),
  }
}

/** Names of decisions that are kept. */
const MOST_DECISIONS = 1_000

function createDecisions(): Hook['once'] {
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

class LeftAlone extends Unheard {
  readonly waitMs: number

  constructor(waitMs: number) {
    super('it kept failing')
    this.waitMs = waitMs
  }
}

/** In place of parsing and writing what may be long, it is put in as it is. */
function writeQuestion({ when, about, request, answer }: Question): Uint8Array | null {
  if (!request || answer === null) return null
  const head = JSON.stringify({ type: when, ...about }).slice(0, -1)
  const parts = [Buffer.from(`${head},"request":`), request]
  if (answer) parts.push(Buffer.from(',"answer":'), answer)
  return Buffer.concat([...parts, Buffer.from('}')])
}
