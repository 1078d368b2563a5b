/** Reads how long a provider asks to wait: from Retry-After, or from the headers about its rate limits. */

/** The upper bound on a wait before a retry. A longer wait is left to the client. */
export const MAX_RETRY_WAIT_MS = 5_000

interface Response {
  status: number
  headers: Headers
}

/**
 * Returns the milliseconds of either form of Retry-After, or of OpenAI's finer `retry-after-ms`; null when there is none. Without it, a 429 is
 * answered by the headers that say when a rate limit is reset. `nowMs` is the time of dates in headers.
 */
export function readRetryAfter({ status, headers }: Response, nowMs: number): number | null {
  const milliseconds = readNumber(headers.get('retry-after-ms'))
  if (milliseconds !== null) return milliseconds
  const value = headers.get('retry-after')
  const seconds = readNumber(value)
  if (seconds !== null) return seconds * 1000
  if (value?.trimEnd().endsWith('GMT')) return readDate(value, nowMs)
  return status === 429 ? readReset(headers, nowMs) : null
}

const RESET = /^(?:x-ratelimit|anthropic-ratelimit)-(?:.+-)?reset(?:-.+)?$/

/**
 * Returns when the last of the exhausted limits is reset. A limit without its number of remaining units may be exhausted. When units remain in
 * all limits, the request was larger than the rest of one of them, and the first reset counts.
 */
function readReset(headers: Headers, nowMs: number): number | null {
  const exhausted: number[] = []
  const others: number[] = []
  for (const [name, value] of headers) {
    const resetMs = RESET.test(name) ? readTime(value, nowMs) : null
    if (resetMs === null) continue
    const remaining = readNumber(headers.get(name.replace(/(?<=-)reset/, 'remaining')))
    const isExhausted = remaining === null || remaining === 0
    if (isExhausted) exhausted.push(resetMs)
    else others.push(resetMs)
  }
  if (exhausted.length > 0) return Math.max(...exhausted)
  return others.length > 0 ? Math.min(...others) : null
}

/** A day, an hour, a minute, a second, a millisecond. */
const UNITS_MS = [86_400_000, 3_600_000, 60_000, 1_000, 1]
/** Larger numbers are seconds, or else milliseconds, since the epoch. */
const MAX_SECONDS = 1e9
const MAX_EPOCH_SECONDS = 1e11

/** Reads `6m0s`, `59.5s`, `20ms`, a number of seconds, seconds or milliseconds since the epoch, or a date in ISO 8601. */
function readTime(value: string, nowMs: number): number | null {
  const number = readNumber(value)
  if (number !== null) {
    if (number < MAX_SECONDS) return number * 1000
    return Math.max(0, (number < MAX_EPOCH_SECONDS ? number * 1000 : number) - nowMs)
  }
  const text = value.trim()
  const duration = readDuration(text)
  if (duration !== null) return duration
  return /^\d{4}-\d{2}-\d{2}T/.test(text) ? readDate(text, nowMs) : null
}

/** Reads days, hours, minutes, seconds and milliseconds, each of which may be missing; null for other text. */
function readDuration(text: string): number | null {
  const [all, ...amounts] =
    /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?$/.exec(text) ?? []
  if (!all) return null
  return amounts.reduce((sum, amount, at) => sum + Number(amount ?? 0) * (UNITS_MS[at] ?? 0), 0)
}

function readDate(text: string, nowMs: number): number | null {
  const date = Date.parse(text)
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs)
}

function readNumber(text: string | null): number | null {
  return text !== null && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : null
}
