/** What a client gets where a provider refuses the operator's key: nothing about the key, and no error of its own. */
import { createError, createErrorOptions } from '../errors/errors.ts'
import type { Log } from '../telemetry/log.ts'
import { read403 } from './classify-403.ts'
import { type Provider, type UpstreamResponse, wrapProvider } from './upstream.ts'
import { UpstreamFailure } from './upstream-failure.ts'

/** Between two warnings about one provider. */
const WARN_EVERY_MS = 60_000

export interface OperatorKeyOptions {
  /** The setting that holds the key. */
  setting: string
  /** Whether there is one: not every provider wants it. */
  isSet: boolean
  log: Pick<Log, 'warn'>
}

/**
 * Returns a wrapper for each provider that uses the key. A 401, and a 403 that is not about the request, throws a 502, or a 503 where no key
 * is set; any other answer is the client's.
 */
export function createOperatorKeyGuard({ setting, isSet, log }: OperatorKeyOptions): (provider: Provider) => Provider {
  let warnedAtMs = Number.NEGATIVE_INFINITY

  function warn(provider: string, status: number, message: string): void {
    const now = performance.now()
    if (now - warnedAtMs < WARN_EVERY_MS) return
    warnedAtMs = now
    log.warn({ provider, status, setting }, message)
  }

  async function guard(name: string, asked: Promise<UpstreamResponse>): Promise<UpstreamResponse> {
    const given = await asked
    const { status } = given
    if (status !== 401 && status !== 403) return given
    const [blamed, answer] = status === 403 ? await read403(given, name) : (['key', given] as const)
    if (blamed === 'request') return answer
    await answer.body.cancel().catch(() => {})
    if (!isSet) {
      warn(name, status, 'upstream wants a key, and none is set')
      throw createError('operatorKeyMissing', { provider: name, setting })
    }
    const what = blamed === 'key' ? 'the key of the operator' : 'a request, or the key of the operator'
    warn(name, status, `upstream refuses ${what}`)
    const refused = blamed === 'key' ? 'the key of this service' : 'this request, or the key of this service'
    throw new UpstreamFailure(
      'broken',
      createErrorOptions('operatorKeyRejected', { provider: name, refused, status }),
      status,
    )
  }

  return provider => {
    const { name, sendStored } = provider
    return {
      ...wrapProvider(provider, ask => guard(name, ask())),
      ...(sendStored && { sendStored: request => guard(name, sendStored(request)) }),
    }
  }
}
