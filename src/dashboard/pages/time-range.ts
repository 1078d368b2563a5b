/** The time spans an overview can show, and the buckets that cover them without a gap. */
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

/** A span with its ends and the starts of its buckets, in Unix seconds. */
export interface TimeRange {
  /** `own`: between two times that the user gave. */
  name: TimeRangeName | 'own'
  title: string
  bucketWidth: Span['width']
  bucketStarts: number[]
  from: number
  until: number
}

const DAY_SECONDS = 86_400

/** What the filters `span`, `from` and `until` ask for: the last day, unless they say something else. */
export function readTimeRange({ span = 'day', from, until }: Filters, now = new Date()): TimeRange {
  if (span === 'own') return ownSpan(parseLocalTime(from), parseLocalTime(until), now)
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

/** A week that ends now, as far as the ends are not given. */
function ownSpan(given: number | undefined, end: number | undefined, now: Date): TimeRange {
  const until = end ?? Math.floor(now.getTime() / 1000)
  const from = Math.min(given ?? until - 7 * DAY_SECONDS, until - 60)
  const days = (until - from) / DAY_SECONDS
  const [width, most] =
    days <= 3
      ? (['hour', days * 24] as const)
      : days <= 100
        ? (['day', days] as const)
        : (['month', days / 28] as const)
  // A bucket more at each end, of which what lies outside goes again.
  const all = bucketStarts(width, Math.ceil(most) + 2, new Date((until - 1) * 1000))
  const first = all.findLastIndex(start => start <= from)
  return {
    name: 'own',
    title: 'same time',
    bucketWidth: width,
    bucketStarts: all.slice(Math.max(0, first)),
    from,
    until,
  }
}

/** Local time, as `datetime-local` writes it, or that of a zone that it names; undefined where it is neither. */
export function parseLocalTime(end: string | undefined): number | undefined {
  const at = Date.parse(end ?? '')
  return Number.isNaN(at) ? undefined : Math.floor(at / 1000)
}

/** As `datetime-local` takes it; empty where it is no time. */
export function formatLocalTime(end: string | undefined): string {
  const seconds = parseLocalTime(end)
  if (seconds === undefined) return ''
  const at = new Date(seconds * 1000)
  const two = (part: number) => String(part).padStart(2, '0')
  const day = `${String(at.getFullYear()).padStart(4, '0')}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  const time = `${two(at.getHours())}:${two(at.getMinutes())}`
  return `${day}T${time}${at.getSeconds() === 0 ? '' : `:${two(at.getSeconds())}`}`
}

/** The last one holds `end`; in the viewer's time zone. */
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

/** Labels that suit the width of a span's buckets, where the user gave its ends. */
const OWN_TICKS: Record<Span['width'], TimeRangeName> = { hour: 'week', day: 'month', month: 'year' }

export function formatTick({ name, bucketWidth }: TimeRange, seconds: number): string {
  return TICKS[name === 'own' ? OWN_TICKS[bucketWidth] : name].format(new Date(seconds * 1000))
}
