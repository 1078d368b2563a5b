/** The time spans an overview can show, and the buckets that cover them without a gap. */

import { LOCALE } from './format.ts'

export type SpanName = 'day' | 'week' | 'month' | 'year'

export interface Span {
  title: string
  width: 'hour' | 'day' | 'month'
  /** Number of buckets, the current one included. */
  buckets: number
}

export const SPANS: Record<SpanName, Span> = {
  day: { title: '24 hours', width: 'hour', buckets: 24 },
  week: { title: '7 days', width: 'hour', buckets: 168 },
  month: { title: '30 days', width: 'day', buckets: 30 },
  year: { title: '12 months', width: 'month', buckets: 12 },
}

/** Start times of the span's buckets in the viewer's time zone, in Unix seconds. */
export function bucketStarts({ width, buckets }: Span, now: Date): number[] {
  return Array.from({ length: buckets }, (_, at) => {
    const back = buckets - 1 - at
    const start =
      width === 'hour'
        ? new Date(now.getFullYear(), now.getMonth(), now.getDate(), now.getHours() - back)
        : width === 'day'
          ? new Date(now.getFullYear(), now.getMonth(), now.getDate() - back)
          : new Date(now.getFullYear(), now.getMonth() - back)
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

export function formatBucket({ width }: Span, seconds: number): string {
  return FORMATS[width].format(new Date(seconds * 1000))
}

const TICKS: Record<SpanName, Intl.DateTimeFormat> = {
  day: new Intl.DateTimeFormat(LOCALE, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
  week: new Intl.DateTimeFormat(LOCALE, { weekday: 'short', day: 'numeric' }),
  month: new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short' }),
  year: new Intl.DateTimeFormat(LOCALE, { month: 'short', year: '2-digit' }),
}

export function formatTick(name: SpanName, seconds: number): string {
  return TICKS[name].format(new Date(seconds * 1000))
}
