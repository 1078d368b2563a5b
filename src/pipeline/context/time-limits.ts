/** Resolves how long the provider of a request may take to respond: the project's settings for the model, and the client's header. */
import { matchesAnyModelPattern } from '../../providers/model-patterns.ts'
import type { TimeLimits } from '../../providers/time-limits.ts'
import type { CompletionQuery } from '../request/query.ts'
import type { RequestContext } from './request-context.ts'

/** The default limit while another model may respond instead. */
const FIRST_TOKEN_WITH_FALLBACK_MS = 30_000

type LimitedRequest = Pick<RequestContext, 'resolvedKey' | 'hasFallback'> & {
  query: Pick<CompletionQuery, 'model' | 'delivery'>
}

/** A limit that is Infinity is the process's. The header can only lower a limit. In a plain response, all tokens arrive at its end. */
export function resolveTimeLimits({
  query: { model, delivery },
  resolvedKey,
  hasFallback,
}: LimitedRequest): TimeLimits {
  const { first_token_timeout_ms, idle_timeout_ms, response_timeout_ms } = resolvedKey
  const defaultMs = hasFallback ? FIRST_TOKEN_WITH_FALLBACK_MS : Number.POSITIVE_INFINITY
  return {
    firstTokenMs: Math.min(findDuration(first_token_timeout_ms, model) ?? defaultMs, delivery.firstTokenMs),
    idleMs: findDuration(idle_timeout_ms, model) ?? Number.POSITIVE_INFINITY,
    responseMs: Math.min(findDuration(response_timeout_ms, model) ?? Number.POSITIVE_INFINITY, delivery.firstTokenMs),
    clientMs: Number.isFinite(delivery.firstTokenMs) ? delivery.firstTokenMs : null,
  }
}

/** Returns the milliseconds of the model's own entry `model=ms`, else of the first pattern that matches, else of the entry for all models. */
export function findDuration(entries: readonly string[], model: string): number | null {
  const named = entries.map(entry => {
    const separatorAt = entry.lastIndexOf('=')
    return {
      name: separatorAt < 0 ? '*' : entry.slice(0, separatorAt),
      isGeneral: separatorAt < 0,
      ms: Number(entry.slice(separatorAt + 1)),
    }
  })
  const found =
    named.find(({ name }) => name === model) ??
    named.find(({ name, isGeneral }) => !isGeneral && matchesAnyModelPattern(model, [name])) ??
    named.find(({ isGeneral }) => isGeneral)
  return found?.ms ?? null
}
