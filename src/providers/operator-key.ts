/** Hides a provider's rejection of the operator's key from clients, who get a 502 or 503 without details, and logs it for the operator. */
import { createErrorOptions } from '../errors/errors.ts'
import type { Log } from '../telemetry/log.ts'
import { isAboutRequest, read403 } from './classify-403.ts'
import { type Provider, type UpstreamResponse, wrapProvider } from './upstream.ts'
import { UpstreamFailure } from './upstream-failure.ts'

/** The shortest time between two warnings. */
const WARN_EVERY_MS = 60_000

export interface OperatorKeyOptions {
  /** The setting that holds the key. */
  setting: string
  /** Whether the key is set. Not every provider needs one. */
  isSet: boolean
  log: Pick<Log, 'warn'>
}

/**
 * Returns a wrapper for each provider that uses the key. The wrapped provider throws a 502, or a 503 when no key is set, for a 401 and for a
 * 403 that is not about the request. Any other response is returned to the client.
 */
export function createOperatorKeyGuard({ setting, isSet, log }: OperatorKeyOptions): (provider: Provider) => Provider {
  let warnedAtMs = Number.NEGATIVE_INFINITY

  function warn(provider: string, status: number, message: string): void {
    const now = performance.now()
    if (now - warnedAtMs < WARN_EVERY_MS) return
    warnedAtMs = now
    log.warn({ provider, status, setting }, message)
  }

  async function guard(name: string, pending: Promise<UpstreamResponse>): Promise<UpstreamResponse> {
    const received = await pending
    const { status } = received
    if (status !== 401 && status !== 403) return received
    const [cause, response] = status === 403 ? await read403(received, name) : (['key', received] as const)
    if (isAboutRequest(cause)) return response
    await response.body.cancel().catch(() => {})
    if (!isSet) {
      warn(name, status, 'upstream requires a key, and none is set')
      throw new UpstreamFailure('broken', createErrorOptions('operatorKeyMissing', { provider: name, setting }), status)
    }
    const rejected = cause === 'key' ? 'the key of the operator' : 'a request, or the key of the operator'
    warn(name, status, `upstream rejects ${rejected}`)
    const refused = cause === 'key' ? 'the key of this service' : 'this request, or the key of this service'
    throw new UpstreamFailure(
      'broken',
      createErrorOptions('operatorKeyRejected', { provider: name, refused, status }),
      status,
    )
  }

  return provider => {
    const { name, sendStored } = provider
    return {
      ...wrapProvider(provider, send => guard(name, send())),
      ...(sendStored && { sendStored: request => guard(name, sendStored(request)) }),
    }
  }
}
