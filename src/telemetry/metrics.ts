/**
 * Counters, gauges and histograms of this process, and their text for Prometheus.
 *
 * Written here rather than taken from a library: a request notes about a dozen values, and must not pay for sorting and joining label names
 * each time. A series is looked up once and then kept by its user.
 * Format: https://prometheus.io/docs/instrumenting/exposition_formats/ (text, 0.0.4).
 */

export type MetricType = 'counter' | 'gauge' | 'histogram'

/** A series of a counter or a gauge. */
export interface Series {
  value: number
}

/** A series of a histogram: a count for each bound and one for all above, and the sum. */
export interface HistogramSeries {
  readonly bounds: readonly number[]
  counts: number[]
  sum: number
}

export interface MetricFamily<Values> {
  /** The series with these label values, in the order of the family's label names. */
  with(...labels: string[]): Values
}

/** What a family is. */
export interface MetricDefinition {
  type: MetricType
  labels: readonly string[]
  help: string
  /** Upper bounds of a histogram's buckets. */
  bounds?: readonly number[]
}

/** A family as plain data: it crosses from a worker to its supervisor. */
export interface FamilySnapshot extends Required<MetricDefinition> {
  name: string
  series: SeriesSnapshot[]
}

/** `value` is a histogram's sum; `counts` is empty for the others. */
interface SeriesSnapshot {
  labels: string[]
  value: number
  counts: number[]
}

export type MetricsSnapshot = FamilySnapshot[]

/** Called before each snapshot: sets the series of what is counted elsewhere. */
type Reader = (family: MetricFamily<Series>) => void

export interface Metrics {
  /** A counter or a gauge. */
  valueFamily(name: string, described: MetricDefinition, read?: Reader): MetricFamily<Series>
  histogramFamily(name: string, described: MetricDefinition): MetricFamily<HistogramSeries>
  snapshot(): MetricsSnapshot
}

/** Separates label values in a key: no header and no JSON text of ours has it. */
const UNIT_SEPARATOR = '\u001f'

export function createMetrics(): Metrics {
  const families: (() => FamilySnapshot)[] = []

  function family<Values extends Series | HistogramSeries>(
    name: string,
    { type, labels, help, bounds = [] }: MetricDefinition,
    create: () => Values,
    refresh: (family: MetricFamily<Values>) => void = () => {},
  ): MetricFamily<Values> {
    const known = new Map<string, { labels: string[]; values: Values }>()
    const made: MetricFamily<Values> = {
      with(...labels) {
        const key = labels.join(UNIT_SEPARATOR)
        const found = known.get(key) ?? { labels, values: create() }
        known.set(key, found)
        return found.values
      },
    }
    families.push(() => {
      refresh(made)
      return { name, type, labels, help, bounds, series: Array.from(known.values(), toSnapshot) }
    })
    return made
  }

  return {
    valueFamily: (name, described, read) => family(name, described, () => ({ value: 0 }), read),
    histogramFamily(name, described) {
      const { bounds = [] } = described
      const counts = new Array<number>(bounds.length + 1).fill(0)
      return family(name, described, () => ({ bounds, counts: [...counts], sum: 0 }))
    },
    snapshot: () => families.map(take => take()),
  }
}

function toSnapshot({ labels, values }: { labels: string[]; values: Series | HistogramSeries }): SeriesSnapshot {
  return 'counts' in values
    ? { labels, value: values.sum, counts: [...values.counts] }
    : { labels, value: values.value, counts: [] }
}

/** Notes a value in a histogram. */
export function observe(distribution: HistogramSeries, value: number): void {
  const { bounds } = distribution
  let at = 0
  while (at < bounds.length && value > (bounds[at] as number)) at++
  distribution.counts[at] = (distribution.counts[at] ?? 0) + 1
  distribution.sum += value
}

/** What several processes measured, as one. Gauges are added up too: each process has its own connections, circuits and queues. */
export function mergeSnapshots(snapshots: readonly MetricsSnapshot[]): MetricsSnapshot {
  const merged = new Map<string, { family: FamilySnapshot; byLabels: Map<string, SeriesSnapshot> }>()
  for (const family of snapshots.flat()) {
    const into = merged.get(family.name) ?? { family, byLabels: new Map<string, SeriesSnapshot>() }
    merged.set(family.name, into)
    for (const series of family.series) {
      const key = series.labels.join(UNIT_SEPARATOR)
      const known = into.byLabels.get(key)
      into.byLabels.set(key, known ? addSeries(known, series) : series)
    }
  }
  return Array.from(merged.values(), ({ family, byLabels }) => ({ ...family, series: [...byLabels.values()] }))
}

function addSeries(one: SeriesSnapshot, other: SeriesSnapshot): SeriesSnapshot {
  return {
    labels: one.labels,
    value: one.value + other.value,
    counts: one.counts.map((count, at) => count + (other.counts[at] ?? 0)),
  }
}

/** Without gauges, for a process that has ended: what it counted still counts, what it held is gone. */
export function withoutGauges(snapshot: MetricsSnapshot): MetricsSnapshot {
  return snapshot.filter(({ type }) => type !== 'gauge')
}

/** The text that Prometheus scrapes. */
export function formatExposition(snapshot: MetricsSnapshot): string {
  const lines: string[] = []
  for (const family of snapshot) {
    lines.push(`# HELP ${family.name} ${escapeText(family.help)}`, `# TYPE ${family.name} ${family.type}`)
    for (const series of family.series) lines.push(...seriesLines(family, series))
  }
  return `${lines.join('\n')}\n`
}

function seriesLines(
  { name, type, labels: names, bounds }: FamilySnapshot,
  { labels, value, counts }: SeriesSnapshot,
): string[] {
  const pairs = names.map((label, at) => `${label}="${escapeValue(labels[at] ?? '')}"`)
  const withLabels = (suffix: string, ...more: string[]) => {
    const all = [...pairs, ...more]
    return `${name}${suffix}${all.length > 0 ? `{${all.join(',')}}` : ''}`
  }
  if (type !== 'histogram') return [`${withLabels('')} ${value}`]
  let below = 0
  const buckets = counts.map((count, at) => {
    below += count
    return `${withLabels('_bucket', `le="${bounds[at] ?? '+Inf'}"`)} ${below}`
  })
  return [...buckets, `${withLabels('_sum')} ${value}`, `${withLabels('_count')} ${below}`]
}

function escapeText(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

function escapeValue(text: string): string {
  return escapeText(text).replaceAll('"', '\\"')
}
