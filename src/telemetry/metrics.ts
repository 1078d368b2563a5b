/**
 * Counters, gauges and histograms of this process, and their text for Prometheus.
 *
 * No library is used, because a request records about a dozen values and must not sort and join label names each time. Callers look a series
 * up once and hold it.
 * Format: https://prometheus.io/docs/instrumenting/exposition_formats/ (text, 0.0.4).
 */

export type MetricType = 'counter' | 'gauge' | 'histogram'

/** A series of a counter or a gauge. */
export interface Series {
  value: number
}

/** A series of a histogram: a count for each bound, a count for all larger values, and the sum. */
export interface HistogramSeries {
  readonly bounds: readonly number[]
  counts: number[]
  sum: number
}

export interface MetricFamily<Values> {
  /** Returns the series with these label values, in the order of the family's label names. */
  with(...labels: string[]): Values
}

export interface MetricDefinition {
  type: MetricType
  labels: readonly string[]
  help: string
  /** The upper bounds of a histogram's buckets. */
  bounds?: readonly number[]
}

/** A family as plain data, which a worker process sends to its supervisor. */
export interface FamilySnapshot extends Required<MetricDefinition> {
  name: string
  series: SeriesSnapshot[]
}

/** A series as plain data. `value` is the sum of a histogram; `counts` is empty for counters and gauges. */
interface SeriesSnapshot {
  labels: string[]
  value: number
  counts: number[]
}

export type MetricsSnapshot = FamilySnapshot[]

/** Called before each snapshot. It sets series that are counted elsewhere. */
type Reader = (family: MetricFamily<Series>) => void

export interface Metrics {
  /** Creates the family of a counter or a gauge. */
  valueFamily(name: string, definition: MetricDefinition, read?: Reader): MetricFamily<Series>
  histogramFamily(name: string, definition: MetricDefinition): MetricFamily<HistogramSeries>
  snapshot(): MetricsSnapshot
}

/** Separates label values in a key. No label value contains it. */
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
    const created: MetricFamily<Values> = {
      with(...labels) {
        const key = labels.join(UNIT_SEPARATOR)
        const found = known.get(key) ?? { labels, values: create() }
        known.set(key, found)
        return found.values
      },
    }
    families.push(() => {
      refresh(created)
      return { name, type, labels, help, bounds, series: Array.from(known.values(), toSnapshot) }
    })
    return created
  }

  return {
    valueFamily: (name, definition, read) => family(name, definition, () => ({ value: 0 }), read),
    histogramFamily(name, definition) {
      const { bounds = [] } = definition
      const counts = new Array<number>(bounds.length + 1).fill(0)
      return family(name, definition, () => ({ bounds, counts: [...counts], sum: 0 }))
    },
    snapshot: () => families.map(takeSnapshot => takeSnapshot()),
  }
}

function toSnapshot({ labels, values }: { labels: string[]; values: Series | HistogramSeries }): SeriesSnapshot {
  return 'counts' in values
    ? { labels, value: values.sum, counts: [...values.counts] }
    : { labels, value: values.value, counts: [] }
}

/** Records a value in a histogram. */
export function observe(histogram: HistogramSeries, value: number): void {
  const { bounds } = histogram
  let at = 0
  while (at < bounds.length && value > (bounds[at] as number)) at++
  histogram.counts[at] = (histogram.counts[at] ?? 0) + 1
  histogram.sum += value
}

/** Merges the snapshots of several processes. Gauges are added up, too: each process has its own connections, circuits and queues. */
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

/** Returns the snapshot without gauges. It is used for a process that has exited: its counts still count, but its resources are gone. */
export function withoutGauges(snapshot: MetricsSnapshot): MetricsSnapshot {
  return snapshot.filter(({ type }) => type !== 'gauge')
}

/** Returns the text that Prometheus scrapes. */
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
