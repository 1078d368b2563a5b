/** The attempts of a request: each call of a provider for it, with retries, further keys and fallbacks, and how it ended. */
import { ProxyError } from '../errors/errors.ts'
import { msSince } from '../event-loop/clock.ts'
import type { Attempt, RecordDetails } from '../postgres/usage-record.ts'
import { FAILURE_KINDS, type FailureKind, kindOfError, kindOfStatus, UNSENT_KINDS } from './failure-kind.ts'
import {
  type AttemptOutcome,
  type Provider,
  type RecordAttempt,
  type StorageRequest,
  type UpstreamResponse,
  wrapProvider,
} from './upstream.ts'
import { UpstreamFailure } from './upstream-failure.ts'

/** The header that names the key that was used, where a project has named keys. */
export const PROVIDER_KEY_HEADER = 'x-proxy-provider-key'

/**
 * Returns the provider with every call reported to the request's `recordAttempt`. A call that the client abandoned is not reported. `key` is
 * the name of the provider key, which is also added to each response: objects that were created with a key can only be requested with that key.
 */
export function withAttempts(provider: Provider, key: string | null): Provider {
  const { name, sendStored } = provider

  function track(send: () => Promise<UpstreamResponse>, recordAttempt: RecordAttempt | undefined) {
    return trackAttempt({ provider: name, key }, recordAttempt, async () => {
      const response = await send()
      if (key !== null) response.headers.set(PROVIDER_KEY_HEADER, key)
      return response
    })
  }

  return {
    ...wrapProvider(provider, (send, { recordAttempt }) => track(send, recordAttempt)),
    ...(sendStored && {
      sendStored: (request: StorageRequest) => track(() => sendStored(request), request.recordAttempt),
    }),
  }
}

/** Calls the provider, and reports the outcome. */
export async function trackAttempt<Response extends { status: number }>(
  called: Pick<AttemptOutcome, 'provider' | 'key'>,
  recordAttempt: RecordAttempt | undefined,
  call: () => Promise<Response>,
): Promise<Response> {
  const startedAtMs = performance.now()
  try {
    const response = await call()
    recordAttempt?.({ ...called, startedAtMs, status: response.status, failure: null })
    return response
  } catch (error) {
    if (error instanceof UpstreamFailure)
      recordAttempt?.({ ...called, startedAtMs, status: error.upstreamStatus, failure: error })
    throw error
  }
}

/** Longer error bodies are not read. */
const MAX_BODY_BYTES = 16_384
/** The attempts of a request that are kept. Embeddings of many inputs take many calls. */
const MAX_ATTEMPTS = 50

const REJECTED_KEY_STATUSES: ReadonlySet<number | null> = new Set([401, 403, 429])

interface AttemptListOptions {
  /** Returns the model that is called now. */
  currentModel(): string
  /** Called when an attempt has failed. */
  onFailed(attempt: Attempt): void
}

/** The attempts of one request, in order. */
export class AttemptList {
  /** The last attempts. */
  readonly all: Attempt[] = []
  /** The number of calls. An attempt that was not sent is none. */
  calls = 0
  /** The kind of the last failure of a model; null if none failed. */
  lastFailureKind: FailureKind | null = null
  readonly #options: AttemptListOptions
  readonly #reported = new WeakSet<Error>()
  #lastStartedAtMs = 0

  constructor(options: AttemptListOptions) {
    this.#options = options
  }

  readonly record: RecordAttempt = ({ provider, key, startedAtMs, status, failure }) => {
    const kind = failure ? failure.failureKind : status !== null && status >= 400 ? kindOfStatus(status) : null
    const ms = elapsedMs(startedAtMs)
    const attempt = { model: this.#options.currentModel(), provider, key, kind, status, ms }
    if (failure) this.#reported.add(failure)
    if (!UNSENT_KINDS.has(kind)) this.calls++
    this.#lastStartedAtMs = startedAtMs
    this.all.push(attempt)
    if (this.all.length > MAX_ATTEMPTS) this.all.shift()
    if (kind !== null) this.#options.onFailed(attempt)
  }

  /**
   * Completes the last attempt with the failure in which its model ended: a response that failed after it had begun, or an error whose body
   * tells more than its status.
   */
  recordFailure(failure: unknown): void {
    const kind = kindOfFailure(failure)
    if (kind === null) return
    this.lastFailureKind = kind
    const last = this.all.at(-1)
    if (!last) return
    if (!(failure instanceof Error)) {
      if (last.kind !== null && last.status === upstreamStatusOf(failure)) last.kind = kind
    } else if (last.kind === null && !this.#reported.has(failure)) {
      last.kind = kind
      last.ms = elapsedMs(this.#lastStartedAtMs)
      this.#options.onFailed(last)
    }
  }

  /** The attempts if any of them failed, else null. */
  get failed(): readonly Attempt[] | null {
    return this.all.some(({ kind }) => kind !== null) ? this.all : null
  }

  /** The name of the key of the last attempt; null if it has no name. */
  get lastKey(): string | null {
    return this.all.at(-1)?.key ?? null
  }

  /** The columns of the usage record. */
  get columns(): Pick<RecordDetails, 'attempts' | 'provider_keys' | 'attempt_list'> {
    if (this.all.length === 0) return {}
    const { calls, keyNames, failed } = this
    return {
      attempts: calls,
      ...(keyNames.length > 0 && { provider_keys: keyNames.join(', ') }),
      ...(failed && { attempt_list: [...failed] }),
    }
  }

  /** The names of the keys that were used, each once, in the order of their last use. A rejected key is followed by its status. */
  get keyNames(): string[] {
    const names = this.all.flatMap(({ key, kind, status }) => {
      if (key === null || UNSENT_KINDS.has(kind)) return []
      return [REJECTED_KEY_STATUSES.has(status) ? `${key} ${status}` : key]
    })
    return names.filter((name, at) => names.lastIndexOf(name) === at)
  }
}

function elapsedMs(sinceMs: number): number {
  return Math.round(msSince(sinceMs))
}

/** Returns the kind of an upstream's failure, or of an error that it reported itself; null for any other error. */
function kindOfFailure(failure: unknown): FailureKind | null {
  if (failure instanceof UpstreamFailure) return failure.failureKind
  if (failure instanceof ProxyError && failure.replacesResponse) return kindOfError(failure.status, failure.toBody())
  const status = upstreamStatusOf(failure)
  if (status === null) return null
  const { body } = failure as { body?: unknown }
  const text = body instanceof Uint8Array && body.length <= MAX_BODY_BYTES ? new TextDecoder().decode(body) : body
  return typeof text === 'string' ? kindOfError(status, text) : kindOfStatus(status)
}

function upstreamStatusOf(failure: unknown): number | null {
  if (failure instanceof Error) return null
  const { status, upstreamStatus = status } = (failure ?? {}) as { status?: unknown; upstreamStatus?: unknown }
  return typeof upstreamStatus === 'number' ? upstreamStatus : null
}

/** The last attempts are listed. Reverse proxies limit the size of all headers, some to 4 KiB. */
const MAX_LISTED = 8
const MAX_TEXT_CHARS = 128

/** Writes the header Proxy-Status (RFC 9209): the attempts of a request of which at least one failed. */
export function setProxyStatusHeader({ failed }: AttemptList, headers: Record<string, string>): void {
  if (failed) headers['proxy-status'] = failed.slice(-MAX_LISTED).map(writeMember).join(', ')
}

/** `error` is the kind of failure itself where RFC 9209 has no type for it. */
function writeMember({ model, provider, key, kind, status, ms }: Attempt): string {
  const parameters = [
    ...(kind === null ? [] : [`error=${FAILURE_KINDS[kind] ?? kind}`]),
    ...(status === null ? [] : [`received-status=${status}`]),
    `next-hop=${writeString(provider)}`,
    `model=${writeString(model)}`,
    ...(key === null ? [] : [`key=${writeString(key)}`]),
    ...(kind === null ? [] : [`kind=${kind}`]),
    `ms=${ms}`,
  ]
  return ['model-proxy', ...parameters].join('; ')
}

/** Writes a string of RFC 9651. Other characters than printable ASCII are percent-encoded. */
function writeString(text: string): string {
  const ascii = text.toWellFormed().replace(/[^\x20-\x7e]+/g, encodeURIComponent)
  return `"${ascii.slice(0, MAX_TEXT_CHARS).replace(/["\\]/g, '\\$&')}"`
}
