/** Retries a provider that failed before its response began, if a second request does no harm. */
import { ClientDisconnected } from '../errors/errors.ts'
import { nowMs } from '../event-loop/clock.ts'
import { onAbort } from '../event-loop/timeouts.ts'
import type { Credentials } from './credentials/credentials.ts'
import {
  type Provider,
  type SendAttempt,
  type UpstreamRequest,
  type UpstreamResponse,
  wrapProvider,
} from './upstream.ts'
import { canFallBack, isTemporaryStatus, UpstreamFailure } from './upstream-failure.ts'

export interface RetryOptions {
  /** After the first attempt. */
  maxRetries: number
  /** From 0 to 1; for tests. */
  random?: () => number
}

/** The first wait is up to this long; each further one up to twice the last. */
const FIRST_WAIT_MS = 250
/** For a longer Retry-After, the client gets the response and decides itself. */
const MAX_WAIT_MS = 5_000

/** Returns the provider with retries. When all attempts fail, the last one's outcome is returned. */
export function withRetries(provider: Provider, { maxRetries, random = Math.random }: RetryOptions): Provider {
  /** `leavesTrace`: whether the request asks the provider to create something, which may exist although the response was lost. */
  async function repeat(leavesTrace: boolean, { signal, isClientDisconnected }: Leaving, ask: SendAttempt) {
    let attempts = 0
    let mayHaveCost = false
    const keys: string[] = []
    const earlier: Credentials[] = []
    for (let retry = 0; ; retry++) {
      const outcome = await attempt(() => ask(earlier))
      attempts += outcome.attempts ?? 1
      keys.push(...(outcome.attemptedKeys ?? []))
      const waitMs = retry < maxRetries && mayRepeat(outcome, leavesTrace) ? chooseWait(outcome, retry, random) : null
      if (waitMs === null) {
        Object.assign(outcome, { attempts, keys })
        if (outcome instanceof UpstreamFailure) throw outcome
        return outcome
      }
      if (outcome.credentials) earlier.push(outcome.credentials)
      if (!(outcome instanceof UpstreamFailure)) await outcome.body.cancel()
      // Of an attempt that was cut, nobody knows what it cost.
      mayHaveCost ||= outcome instanceof UpstreamFailure && outcome.kind === 'cut'
      await sleep(waitMs, signal).catch(reason => {
        throw reason instanceof ClientDisconnected ? new ClientDisconnected(mayHaveCost) : reason
      })
      if (isClientDisconnected?.()) throw new ClientDisconnected(mayHaveCost)
    }
  }

  return wrapProvider(provider, (ask, request) =>
    repeat('hasSideEffects' in request ? request.hasSideEffects : request.body.store === true, request, ask),
  )
}

type Outcome = UpstreamResponse | UpstreamFailure
type Leaving = Pick<UpstreamRequest, 'signal' | 'isClientDisconnected'>

async function attempt(ask: () => Promise<UpstreamResponse>): Promise<Outcome> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof UpstreamFailure) return error
    throw error
  }
}

function mayRepeat(outcome: Outcome, leavesTrace: boolean): boolean {
  if (outcome instanceof UpstreamFailure) {
    const { kind, usage } = outcome
    if (kind === 'unconnected') return true
    // What was charged would be charged again.
    const isRepeatable = kind === 'cut' || (usage === null && (kind === 'empty' || kind === 'reported'))
    return isRepeatable && !leavesTrace && canFallBack(outcome)
  }
  if (!isTemporaryStatus(outcome.status) || outcome.headers.get('x-should-retry') === 'false') return false
  // A rate-limited request created nothing.
  return outcome.status === 429 || !leavesTrace
}

/** Milliseconds; null when the provider asks for a longer wait than a client would accept. */
function chooseWait(outcome: Outcome, retry: number, random: () => number): number | null {
  const jitterMs = random() * Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** retry)
  const wantedMs = outcome instanceof UpstreamFailure ? null : readRetryAfter(outcome.headers, nowMs())
  if (wantedMs === null) return jitterMs
  return wantedMs > MAX_WAIT_MS ? null : Math.max(wantedMs, jitterMs)
}

/** Milliseconds, from either form of Retry-After or from OpenAI's finer `retry-after-ms`; null when there is none. */
export function readRetryAfter(headers: Headers, nowMs: number): number | null {
  const milliseconds = readNumber(headers.get('retry-after-ms'))
  if (milliseconds !== null) return milliseconds
  const value = headers.get('retry-after')
  const seconds = readNumber(value)
  if (seconds !== null) return seconds * 1000
  const date = value?.trimEnd().endsWith('GMT') ? Date.parse(value) : Number.NaN
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs)
}

function readNumber(text: string | null): number | null {
  return text !== null && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : null
}

/** Rejects with the signal's reason as soon as it is aborted. */
function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', leave)
      resolve()
    }, milliseconds)
    onAbort(signal, leave)
  })
}
