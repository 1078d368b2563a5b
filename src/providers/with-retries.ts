/** Retries requests to a provider that failed before its response began, if a second request does no harm. */
import { ClientDisconnected } from '../errors/errors.ts'
import { nowMs } from '../event-loop/clock.ts'
import { onAbort } from '../event-loop/timeouts.ts'
import { readProviderError } from '../formats/errors/provider-error.ts'
import type { Credentials } from './credentials/credentials.ts'
import { readErrorText } from './read-bytes.ts'
import { MAX_RETRY_WAIT_MS, readRetryAfter } from './retry-after.ts'
import {
  type Provider,
  type SendAttempt,
  type UpstreamRequest,
  type UpstreamResponse,
  wrapProvider,
} from './upstream.ts'
import { isTemporary, isTemporaryStatus, UpstreamFailure } from './upstream-failure.ts'

export interface RetryOptions {
  /** The largest number of attempts after the first one. */
  maxRetries: number
  /** The upper bound on the first wait; a quarter of a second by default. It doubles with each further wait. */
  firstWaitMs?: number | undefined
  /** Returns a number from 0 to 1. Tests replace it. */
  random?: () => number
}

const DEFAULT_FIRST_WAIT_MS = 250

/** Returns the provider with retries. When all attempts fail, the last one's outcome is returned. */
export function withRetries(
  provider: Provider,
  { maxRetries, firstWaitMs = DEFAULT_FIRST_WAIT_MS, random = Math.random }: RetryOptions,
): Provider {
  /** `hasSideEffects`: the request creates an object at the provider, which may exist although the response was lost. */
  async function sendWithRetries(
    hasSideEffects: boolean,
    { signal, isClientDisconnected }: ClientConnection,
    send: SendAttempt,
  ) {
    let mayHaveCost = false
    const earlier: Credentials[] = []
    for (let retry = 0; ; retry++) {
      let isQuotaExhausted = false
      const outcome = await attempt(async () => {
        const response = await send(earlier)
        if (response.status !== 429) return response
        const [text, unread] = await readErrorText(response, provider.name)
        isQuotaExhausted = readProviderError(text, response.status).category === 'quotaExhausted'
        return unread
      })
      const canRetry = retry < maxRetries && !isQuotaExhausted && isRetryable(outcome, hasSideEffects)
      const waitMs = canRetry
        ? chooseWait(outcome, random() * Math.min(MAX_RETRY_WAIT_MS, firstWaitMs * 2 ** retry))
        : null
      if (waitMs === null) {
        if (outcome instanceof UpstreamFailure) throw outcome
        return outcome
      }
      if (outcome.credentials) earlier.push(outcome.credentials)
      if (!(outcome instanceof UpstreamFailure)) await outcome.body.cancel()
      // The cost of an attempt that was cut is unknown.
      mayHaveCost ||= outcome instanceof UpstreamFailure && outcome.kind === 'cut'
      await sleep(waitMs, signal).catch(reason => {
        throw reason instanceof ClientDisconnected ? new ClientDisconnected(mayHaveCost) : reason
      })
      if (isClientDisconnected?.()) throw new ClientDisconnected(mayHaveCost)
    }
  }

  return wrapProvider(provider, (send, request) =>
    sendWithRetries('hasSideEffects' in request ? request.hasSideEffects : request.body.store === true, request, send),
  )
}

type Outcome = UpstreamResponse | UpstreamFailure
type ClientConnection = Pick<UpstreamRequest, 'signal' | 'isClientDisconnected'>

async function attempt(send: () => Promise<UpstreamResponse>): Promise<Outcome> {
  try {
    return await send()
  } catch (error) {
    if (error instanceof UpstreamFailure) return error
    throw error
  }
}

function isRetryable(outcome: Outcome, hasSideEffects: boolean): boolean {
  if (outcome instanceof UpstreamFailure) {
    const { kind, usage } = outcome
    if (kind === 'unconnected') return true
    // A failed response with usage was charged, and a retry would be charged again.
    const isUncharged = kind === 'cut' || (usage === null && (kind === 'empty' || kind === 'reported'))
    return isUncharged && !hasSideEffects && isTemporary(outcome)
  }
  if (!isTemporaryStatus(outcome.status) || outcome.headers.get('x-should-retry') === 'false') return false
  // A rate-limited request created nothing.
  return outcome.status === 429 || !hasSideEffects
}

/** Returns the milliseconds to wait; null when the provider asks to wait longer than MAX_RETRY_WAIT_MS. */
function chooseWait(outcome: Outcome, jitterMs: number): number | null {
  const retryAfterMs = outcome instanceof UpstreamFailure ? null : readRetryAfter(outcome, nowMs())
  if (retryAfterMs === null) return jitterMs
  return retryAfterMs > MAX_RETRY_WAIT_MS ? null : Math.max(retryAfterMs, jitterMs)
}

/** Resolves after the time. Rejects with the signal's reason as soon as the signal is aborted. */
function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, milliseconds)
    onAbort(signal, stop)
  })
}
