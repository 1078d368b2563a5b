/** What a request that may not pass is told. */
import { ProxyError } from '../errors.ts'

/** 429 with what a client needs in order to come back in time. */
export function rateLimitExceeded(limit: number, waitMs: number): ProxyError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000))
  return new ProxyError({
    status: 429,
    code: 'rate_limit_exceeded',
    message: 'Rate limit exceeded',
    headers: {
      'retry-after': String(seconds),
      'x-ratelimit-limit-requests': String(limit),
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': `${seconds}s`,
    },
  })
}

/** 429 for a key that has as many requests under way as its plan allows: a moment later one of them may be over. */
export function tooManyAtOnce(limit: number): ProxyError {
  return new ProxyError({
    status: 429,
    code: 'concurrent_requests_exceeded',
    message: `Too many requests at the same time: this key may have ${limit} under way`,
    headers: { 'retry-after': '1' },
  })
}

/** 429 that OpenAI's clients do not retry: waiting a moment does not help. */
export function monthlyQuotaExceeded(): ProxyError {
  return new ProxyError({
    status: 429,
    code: 'monthly_quota_exceeded',
    message: 'Monthly quota exceeded',
    headers: { 'x-should-retry': 'false' },
  })
}

/** 503: nobody is let in while keys cannot be checked. */
export function databaseUnavailable(cause?: unknown): ProxyError {
  return new ProxyError({
    status: 503,
    code: 'service_unavailable',
    message: 'The database is unavailable; try again shortly.',
    headers: { 'retry-after': '1' },
    cause,
  })
}
