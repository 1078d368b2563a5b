/**
 * A provider under the operator's key: if the upstream refuses that key, the operator is warned, and the client learns that its own key
 * is not at fault.
 */
import type { Log } from '../telemetry/log.ts'
import type { Provider, UpstreamAnswer } from './upstream.ts'
import { broken } from './upstream-failure.ts'

/** Between two warnings about one provider. */
const WARN_EVERY_MS = 60_000

export interface OperatorKeyOptions {
  /** The setting that holds the key. */
  setting: string
  log: Pick<Log, 'warn'>
}

/** Returns a wrapper for each provider that uses the key. A 401 or 403 from them throws a 502. */
export function createOperatorKeyGuard({ setting, log }: OperatorKeyOptions): (provider: Provider) => Provider {
  let warnedAtMs = Number.NEGATIVE_INFINITY

  function warn(provider: string, status: number): void {
    const now = performance.now()
    if (now - warnedAtMs < WARN_EVERY_MS) return
    warnedAtMs = now
    log.warn({ provider, status, setting }, 'upstream refuses the key of the operator')
  }

  async function guard({ name }: Provider, asked: Promise<UpstreamAnswer>): Promise<UpstreamAnswer> {
    const answer = await asked
    if (answer.status !== 401 && answer.status !== 403) return answer
    warn(name, answer.status)
    await answer.body.cancel().catch(() => {})
    throw broken(name, 'refused the key of this service, whose operator has been told', answer.status)
  }

  return provider => {
    const { pass } = provider
    return {
      ...provider,
      ask: request => guard(provider, provider.ask(request)),
      ...(pass && { pass: request => guard(provider, pass(request)) }),
    }
  }
}
