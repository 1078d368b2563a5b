/**
 * Circuits of one provider key: one for each of its models, and one for the key. A model that keeps failing is not called for a while, and no
 * model is when nothing connects or several models fail. A model whose rate limit is reached rests for as long as the provider says.
 */

import { LRUCache } from 'lru-cache'
import { nowMs } from '../event-loop/clock.ts'
import { asString } from '../formats/json/canonical.ts'
import type { BreakerOutcome, CircuitBreaker } from './circuit-breaker.ts'
import { readRetryAfter } from './retry-after.ts'
import type { PassThroughRequest, Provider, UpstreamRequest, UpstreamResponse } from './upstream.ts'
import {
  circuitOpenError,
  isTemporary,
  isTemporaryStatus,
  keyRestingError,
  UpstreamFailure,
} from './upstream-failure.ts'

/** Whether the response took longer than its client waits. Otherwise a client with a very short limit could open the circuit for others. */
function exceedsClientLimit({ timeoutMs }: UpstreamFailure, request: UpstreamRequest | PassThroughRequest): boolean {
  const clientMs = 'endpoint' in request ? (request.timeLimits?.clientMs ?? null) : null
  return clientMs !== null && timeoutMs === clientMs
}

/** up: no circuit is open; partial: some models get requests; down: none does. */
export type KeyStatus = 'up' | 'partial' | 'down'

/** Models of one key that have failed or are resting. The circuits of the least recently used are dropped. */
const MAX_MODELS = 64
/** Longer model names are no models. Their circuits are shared. */
const MAX_NAME_CHARS = 256
/** Models that fail at the same time until the circuit of their key opens. */
const SEVERAL_MODELS = 3
/** With a fallback, a trial is due at the latest after this time. */
const MAX_OPEN_WITH_FALLBACK_MS = 15_000
/** A model does not rest for a shorter wait: most limits apply to a sliding minute, so that a smaller request may succeed before. */
const MIN_REST_MS = 30_000
/** The upper bound on the rest of a model whose rate limit is reached. */
const MAX_REST_MS = 3_600_000

/** What is known of one model of a key. Models that have never failed have no state. */
interface ModelState {
  breaker: CircuitBreaker
  /** `performance.now()` until which the model rests. */
  restsUntilMs: number
}

export class KeyCircuits {
  readonly provider: Provider
  readonly #recentMs: number
  readonly #createBreaker: (model: string | null) => CircuitBreaker
  readonly #key: CircuitBreaker
  readonly #models = new LRUCache<string, ModelState>({ max: MAX_MODELS })
  #lastWellAtMs = Number.NEGATIVE_INFINITY
  /** Whether no model has responded since the first of the open circuits opened. */
  #isSilent = false

  constructor(provider: Provider, openMs: number, createBreaker: (model: string | null) => CircuitBreaker) {
    this.provider = provider
    this.#recentMs = 2 * openMs
    this.#createBreaker = createBreaker
    this.#key = createBreaker(null)
  }

  async send(
    send: () => Promise<UpstreamResponse>,
    request: UpstreamRequest | PassThroughRequest,
  ): Promise<UpstreamResponse> {
    const model = modelOf(request)
    const attempt = this.#enter(model, 'endpoint' in request ? request.trial : undefined)
    try {
      const response = await send()
      if (response.status === 429) this.#rest(model, response)
      if (response.stream) {
        attempt.begin()
        response.stream.onEnd = attempt.settle
      } else attempt.settle(outcomeOf(response))
      return response
    } catch (error) {
      const isFailure = error instanceof UpstreamFailure && isTemporary(error) && !exceedsClientLimit(error, request)
      if (isFailure && error.isUnconnected) attempt.settleUnconnected()
      else attempt.settle(isFailure ? 'failed' : 'unknown')
      throw error
    }
  }

  /** Throws if the model rests, or if its circuit or the key's is open. */
  #enter(model: string, trial: UpstreamRequest['trial']) {
    const state = this.#models.get(model)
    const restMs = (state?.restsUntilMs ?? 0) - performance.now()
    if (restMs > 0) throw keyRestingError(this.provider.name, restMs)
    const maxOpenMs = trial === undefined ? undefined : MAX_OPEN_WITH_FALLBACK_MS
    const waitMs = Math.max(this.#key.waitMs(maxOpenMs), state?.breaker.waitMs(maxOpenMs) ?? 0)
    const isKeyTrial = !this.#key.isClosed
    const wasFailing = state?.breaker.isClosed === false
    if (waitMs > 0 || (trial === 'beside' && (isKeyTrial || wasFailing)))
      throw circuitOpenError(this.provider.name, waitMs, { isTrialDue: waitMs <= 0 })
    return this.#createAttempt(model, { isKeyTrial, wasFailing }, state)
  }

  #createAttempt(
    model: string,
    { isKeyTrial, wasFailing }: { isKeyTrial: boolean; wasFailing: boolean },
    state: ModelState | undefined,
  ) {
    const startedAtMs = performance.now()
    const key = this.#key.enter()
    const entry = state?.breaker.enter()
    let isSettled = false
    const settle = (outcome: BreakerOutcome): void => {
      if (isSettled) return
      isSettled = true
      if (outcome !== 'failed') {
        key.settle(outcome)
        entry?.settle(outcome)
        if (outcome === 'well') this.#recordWell()
        return
      }
      // A failing model says nothing about the others, nor does a model that was failing before.
      key.settle(isKeyTrial && !wasFailing ? 'failed' : 'unknown')
      const { breaker } = this.#stateOf(model)
      const failed = entry ?? (breaker.isClosed ? breaker.enter(startedAtMs) : null)
      failed?.settle('failed')
      if (!wasFailing && !breaker.isClosed) this.#recordOpened()
    }
    return {
      settle,
      /** The response has begun. */
      begin() {
        key.settle('well')
        entry?.begin()
      },
      settleUnconnected() {
        key.settle('failed')
        entry?.settle(wasFailing ? 'failed' : 'unknown')
      },
    }
  }

  #stateOf(model: string): ModelState {
    let state = this.#models.get(model)
    if (!state) {
      state = { breaker: this.#createBreaker(model), restsUntilMs: 0 }
      this.#models.set(model, state)
    }
    return state
  }

  #recordWell(): void {
    this.#lastWellAtMs = performance.now()
    this.#isSilent = false
  }

  /** Opens the key's circuit if several models fail and none has responded recently. */
  #recordOpened(): void {
    const { length } = this.#openModels
    if (length === 1) this.#isSilent = true
    if (length >= SEVERAL_MODELS && performance.now() - this.#lastWellAtMs > this.#recentMs) this.#key.open()
  }

  /** Providers limit the rate of each model, so the key's other models are still called. */
  #rest(model: string, response: UpstreamResponse): void {
    const restMs = Math.min(MAX_REST_MS, readRetryAfter(response, nowMs()) ?? 0)
    if (restMs > MIN_REST_MS) this.#stateOf(model).restsUntilMs = performance.now() + restMs
  }

  get #openModels(): string[] {
    return Array.from(this.#models.entries()).flatMap(([model, { breaker }]) => (breaker.isClosed ? [] : [model]))
  }

  summarize(): { status: KeyStatus; openCircuits: number; openModels: readonly string[] } {
    const openModels = this.#openModels
    const isOpen = !this.#key.isClosed
    const isDown = isOpen || (openModels.length > 0 && this.#isSilent)
    const status = isDown ? 'down' : openModels.length > 0 ? 'partial' : 'up'
    return { status, openCircuits: openModels.length + (isOpen ? 1 : 0), openModels: isDown ? [] : openModels }
  }
}

function modelOf(request: UpstreamRequest | PassThroughRequest): string {
  const fields = 'endpoint' in request ? request.body : request.body?.fields
  return asString(fields?.model).slice(0, MAX_NAME_CHARS)
}

/** Returns `failed` when the response shows that the model is unhealthy. A rate limit does not. */
function outcomeOf({ status }: UpstreamResponse): BreakerOutcome {
  return isTemporaryStatus(status) && status !== 429 ? 'failed' : 'well'
}
