/** The time ranges of the overview, and the consecutive buckets that cover them. */
import type { Filters } from './filters.ts'
import { LOCALE } from './format.ts'

export type TimeRangeName = 'day' | 'week' | 'month' | 'year'

interface Span {
  title: string
  width: 'hour' | 'day' | 'month'
  /** Number of buckets, the current one included. */
  buckets: number
}

export const TIME_RANGES: Record<TimeRangeName, Span> = {
  day: { title: '24 hours', width: 'hour', buckets: 24 },
  week: { title: '7 days', width: 'hour', buckets: 168 },
  month: { title: '30 days', width: 'day', buckets: 30 },
  year: { title: '12 months', width: 'month', buckets: 12 },
}

/** A time range with its ends and the start of each bucket, in Unix seconds. */
export interface TimeRange {
  /** `own` is a custom range between two times. */
  name: TimeRangeName | 'own'
  title: string
  bucketWidth: Span['width']
  bucketStarts: number[]
  from: number
  until: number
}

const DAY_SECONDS = 86_400

/** Reads the filters `span`, `from` and `until`. Defaults to the last day. */
export function readTimeRange({ span = 'day', from, until }: Filters, now = new Date()): TimeRange {
  if (span === 'own') return customRange(parseLocalTime(from), parseLocalTime(until), now)
  const name = span in TIME_RANGES ? (span as TimeRangeName) : 'day'
  const { title, width, buckets } = TIME_RANGES[name]
  const starts = bucketStarts(width, buckets, now)
  return {
    name,
    title,
    bucketWidth: width,
    bucketStarts: starts,
    from: starts[0] ?? 0,
    until: Math.floor(now.getTime() / 1000) + 60,
  }
}

/** Builds a custom range. A missing end defaults to now, a missing start to a week before the end. */
function customRange(start: number | undefined, end: number | undefined, now: Date): TimeRange {
  const until = end ?? Math.floor(now.getTime() / 1000)
  const from = Math.min(start ?? until - 7 * DAY_SECONDS, until - 60)
  const days = (until - from) / DAY_SECONDS
  const [width, maxBuckets] =
    days <= 3
      ? (['hour', days * 24] as const)
      : days <= 100
        ? (['day', days] as const)
        : (['month', days / 28] as const)
  // One extra bucket at each end covers partial buckets. Those outside the range are removed below.
  const all = bucketStarts(width, Math.ceil(maxBuckets) + 2, new Date((until - 1) * 1000))
  const first = all.findLastIndex(bucketStart => bucketStart <= from)
  return {
    name: 'own',
    title: 'period',
    bucketWidth: width,
    bucketStarts: all.slice(Math.max(0, first)),
    from,
    until,
  }
}

/** Parses a local time in the format of `datetime-local`, or a time with a time zone. Returns undefined if it is neither. */
export function parseLocalTime(end: string | undefined): number | undefined {
  const at = Date.parse(end ?? '')
  return Number.isNaN(at) ? undefined : Math.floor(at / 1000)
}

/** Formats a time for a `datetime-local` field. Returns '' if it is not a time. */
export function formatLocalTime(end: string | undefined): string {
  const seconds = parseLocalTime(end)
  if (seconds === undefined) return ''
  const at = new Date(seconds * 1000)
  const two = (part: number) => String(part).padStart(2, '0')
  const day = `${String(at.getFullYear()).padStart(4, '0')}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  const time = `${two(at.getHours())}:${two(at.getMinutes())}`
  return `${day}T${time}${at.getSeconds() === 0 ? '' : `:${two(at.getSeconds())}`}`
}

/** Returns the start of each bucket in the viewer's time zone. The last bucket contains `end`. */
function bucketStarts(width: Span['width'], buckets: number, end: Date): number[] {
  return Array.from({ length: buckets }, (_, at) => {
    const back = buckets - 1 - at
    const start =
      width === 'hour'
        ? new Date(end.getFullYear(), end.getMonth(), end.getDate(), end.getHours() - back)
        : width === 'day'
          ? new Date(end.getFullYear(), end.getMonth(), end.getDate() - back)
          : new Date(end.getFullYear(), end.getMonth() - back)
    return Math.floor(start.getTime() / 1000)
  })
}

const FORMATS: Record<Span['width'], Intl.DateTimeFormat> = {
  hour: new Intl.DateTimeFormat(LOCALE, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
  }),
  day: new Intl.DateTimeFormat(LOCALE, { weekday: 'short', day: 'numeric', month: 'short' }),
  month: new Intl.DateTimeFormat(LOCALE, { month: 'long', year: 'numeric' }),
}

export function formatBucket({ bucketWidth }: TimeRange, seconds: number): string {
  return FORMATS[bucketWidth].format(new Date(seconds * 1000))
}

const TICKS: Record<TimeRangeName, Intl.DateTimeFormat> = {
  day: new Intl.DateTimeFormat(LOCALE, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
  week: new Intl.DateTimeFormat(LOCALE, { weekday: 'short', day: 'numeric' }),
  month: new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short' }),
  year: new Intl.DateTimeFormat(LOCALE, { month: 'short', year: '2-digit' }),
}

/** The tick labels of custom ranges, by bucket width. */
const CUSTOM_TICKS: Record<Span['width'], TimeRangeName> = { hour: 'week', day: 'month', month: 'year' }

export function formatTick({ name, bucketWidth }: TimeRange, seconds: number): string {
  return TICKS[name === 'own' ? CUSTOM_TICKS[bucketWidth] : name].format(new Date(seconds * 1000))
}
