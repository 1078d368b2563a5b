/** Formats numbers, money and times in English and in the viewer's time zone, and makes text of other people safe to show. */

/** The pages are in English, so numbers and dates are formatted for it. */
export const LOCALE = 'en'

const whole = new Intl.NumberFormat(LOCALE)
const compact = new Intl.NumberFormat(LOCALE, { notation: 'compact', maximumFractionDigits: 1 })
const percent = new Intl.NumberFormat(LOCALE, { style: 'percent', maximumFractionDigits: 1 })
const signed = new Intl.NumberFormat(LOCALE, {
  style: 'percent',
  maximumFractionDigits: 1,
  signDisplay: 'exceptZero',
})
const dateTime = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' })
const shortTime = new Intl.DateTimeFormat(LOCALE, {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})
const date = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium' })
const relative = new Intl.RelativeTimeFormat(LOCALE, { numeric: 'auto' })

export const localTimeZone = Intl.DateTimeFormat().resolvedOptions().timeZone

export function formatCount(count: number): string {
  return Math.abs(count) < 10_000 ? whole.format(count) : compact.format(count)
}

/** Capitalizes the first letter, for values of the API that are shown as labels. */
export function capitalize(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

/** `formatPlural(1, 'hit')` returns `1 hit`, and `formatPlural(2, 'hit')` returns `2 hits`. */
export function formatPlural(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`
}

export function formatPercent(share: number | null): string {
  return share === null ? '–' : percent.format(share)
}

/** Formats a change with its sign, such as +12%. */
export function formatChange(change: number | null): string {
  return change === null ? '–' : signed.format(change)
}

export function formatUsd(usd: number): string {
  const digits = usd === 0 || Math.abs(usd) >= 0.1 ? 2 : Math.abs(usd) >= 0.001 ? 4 : 6
  return new Intl.NumberFormat(LOCALE, {
    style: 'currency',
    currency: 'USD',
    minimumFractionDigits: Math.min(2, digits),
    maximumFractionDigits: digits,
  }).format(usd)
}

export function formatMs(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`
}

export function formatDuration(seconds: number): string {
  if (seconds < 1) return seconds === 0 ? '0 s' : `${Math.round(seconds * 1000)} ms`
  if (seconds < 120) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`
  return `${(seconds / 3600).toFixed(1)} h`
}

export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  const step = bytes < 1024 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10))
  return `${(bytes / 1024 ** step).toFixed(step === 0 ? 0 : 1)} ${units[step]}`
}

export function formatTime(at: number | string): string {
  return dateTime.format(new Date(typeof at === 'number' ? at * 1000 : at))
}

/** Formats a time without the year, for lists of recent events. */
export function formatShortTime(at: number | string): string {
  return shortTime.format(new Date(typeof at === 'number' ? at * 1000 : at))
}

export function formatDate(seconds: number | null): string {
  return seconds === null ? 'Never' : date.format(new Date(seconds * 1000))
}

/** Matches control characters except line breaks and tabs, and characters that change the direction of text. */
const UNSAFE = /(?![\t\n\r])[\p{Cc}\u2028-\u202e\u2066-\u2069\ufeff]/gu

/** Escapes characters that could affect the text around them, such as controls and direction marks, as \uXXXX. */
export function escapeControlCharacters(text: string): string {
  return text.replace(UNSAFE, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Prepares text for the middle of a sentence: a right-to-left name does not reorder the words around it. */
export function isolateDirection(text: string): string {
  const escaped = escapeControlCharacters(text)
  return /^[ -~]*$/.test(escaped) ? escaped : `\u2068${escaped}\u2069`
}

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
]

export function formatAgo(seconds: number | null): string {
  if (seconds === null) return 'Never'
  const age = Date.now() / 1000 - seconds
  for (const [unit, length] of UNITS) {
    if (Math.abs(age) >= length) return relative.format(-Math.round(age / length), unit)
  }
  return 'just now'
}
