/** A stacked bar chart over time, followed by the same numbers as a table for screen readers. */
import { useEffect, useRef, useState } from 'react'
import uPlot from 'uplot'

export interface Series {
  title: string
  /** The style sheet's custom property, such as --exact. */
  color: string
  values: readonly number[]
}

interface ChartProps {
  label: string
  /** Unix seconds, ascending. */
  times: readonly number[]
  /** From the bottom of the stack to the top. */
  series: readonly Series[]
  format(value: number): string
  formatTime(seconds: number): string
  /** Formats the labels below the bars. */
  formatTick(seconds: number): string
  height?: number
}

/** A canvas cannot read custom properties: this returns the colour that one has in the current theme. */
function resolveColor(name: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(${name})`
  document.body.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

function padSides(first: number, last: number, bars: number): [number, number] {
  const half = bars > 1 ? (last - first) / (bars - 1) / 2 : 1_800
  return [first - half, last + half]
}

/** uPlot draws series in order. The whole stack comes first, so that the smaller sums are painted over it. */
function stack(times: readonly number[], series: readonly Series[]): uPlot.AlignedData {
  const sums = series.map((_, top) =>
    times.map((_, at) => series.slice(0, top + 1).reduce((sum, each) => sum + (each.values[at] ?? 0), 0)),
  )
  return [[...times], ...sums.reverse()]
}

/** Counts theme changes, so that each one redraws the canvas. */
function useTheme(): number {
  const [theme, setTheme] = useState(0)
  useEffect(() => {
    const redraw = () => setTheme(count => count + 1)
    const system = matchMedia('(prefers-color-scheme: dark)')
    window.addEventListener('themechange', redraw)
    system.addEventListener('change', redraw)
    return () => {
      window.removeEventListener('themechange', redraw)
      system.removeEventListener('change', redraw)
    }
  }, [])
  return theme
}

type Drawing = Pick<ChartProps, 'times' | 'series' | 'format' | 'formatTick'> & {
  height: number
  /** Called with the index of the bar under the pointer; null when there is none. */
  point(at: number | null): void
}

function drawBars(parent: HTMLElement, { times, series, height, format, formatTick, point }: Drawing): uPlot {
  const axis = {
    stroke: resolveColor('--muted'),
    grid: { stroke: resolveColor('--line'), width: 1 },
    ticks: { show: false },
    font: '11px system-ui',
  }
  const bars = uPlot.paths.bars?.({ size: [0.72, 48], radius: 0.15 })
  return new uPlot(
    {
      width: parent.clientWidth,
      height,
      padding: [8, 8, 0, 0],
      legend: { show: false },
      cursor: { y: false, points: { show: false } },
      scales: {
        // Half a bar of space at each end.
        x: { range: (_, first, last) => padSides(first, last, times.length) },
        y: { range: (_, __, most) => [0, Math.max(1e-9, most * 1.08)] },
      },
      axes: [
        { ...axis, grid: { show: false }, space: 72, size: 28, values: (_, ticks) => ticks.map(formatTick) },
        { ...axis, size: 64, values: (_, ticks) => ticks.map(format) },
      ],
      series: [
        {},
        ...[...series].reverse().map(each => ({
          label: each.title,
          fill: resolveColor(each.color),
          stroke: resolveColor(each.color),
          width: 0,
          points: { show: false },
          ...(bars ? { paths: bars } : {}),
        })),
      ],
      hooks: { setCursor: [plot => point(plot.cursor.idx ?? null)] },
    },
    stack(times, series),
    parent,
  )
}

export function StackedBars({ label, times, series, format, formatTime, formatTick, height = 220 }: ChartProps) {
  const box = useRef<HTMLDivElement>(null)
  const [at, setAt] = useState<number | null>(null)
  const theme = useTheme()

  useEffect(() => {
    const parent = box.current
    if (parent === null || times.length === 0) return
    const chart = drawBars(parent, { times, series, height, format, formatTick, point: setAt })
    const observer = new ResizeObserver(() => chart.setSize({ width: parent.clientWidth, height }))
    observer.observe(parent)
    return () => {
      observer.disconnect()
      chart.destroy()
    }
  }, [times, series, height, format, formatTick, theme])

  const shown = at !== null && at < times.length ? at : null
  return (
    <figure aria-label={label}>
      <Legend series={series} at={shown} format={format} time={shown === null ? null : formatTime(times[shown] ?? 0)} />
      <div className="px-3 pb-2" aria-hidden="true">
        <div ref={box} style={{ minHeight: height }} />
      </div>
      <Numbers times={times} series={series} format={format} formatTime={formatTime} />
    </figure>
  )
}

interface LegendProps extends Pick<ChartProps, 'series' | 'format'> {
  /** Index of the bar under the pointer; null when there is none. `time` is that bar's time. */
  at: number | null
  time: string | null
}

function Legend({ series, format, at, time }: LegendProps) {
  return (
    <figcaption className="flex min-h-6 flex-wrap items-center gap-x-4 gap-y-1 px-4 pt-3 text-xs text-muted">
      {series.map(each => (
        <span key={each.title} className="flex items-center gap-1.5">
          <span className="size-2.5 rounded-sm" style={{ background: `var(${each.color})` }} />
          {each.title}
          {at !== null && <b className="font-medium text-ink tabular-nums">{format(each.values[at] ?? 0)}</b>}
        </span>
      ))}
      {time !== null && <span className="ml-auto">{time}</span>}
    </figcaption>
  )
}

function Numbers({
  times,
  series,
  format,
  formatTime,
}: Pick<ChartProps, 'times' | 'series' | 'format' | 'formatTime'>) {
  return (
    <details className="border-t border-line px-4 py-2 text-xs text-muted">
      <summary>As numbers</summary>
      <div className="mt-2 max-h-60 overflow-auto">
        <table className="w-full text-left tabular-nums">
          <thead>
            <tr>
              <th scope="col">Time</th>
              {series.map(each => (
                <th key={each.title} scope="col">
                  {each.title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {times.map((time, row) => (
              <tr key={time}>
                <th scope="row" className="font-normal">
                  {formatTime(time)}
                </th>
                {series.map(each => (
                  <td key={each.title}>{format(each.values[row] ?? 0)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  )
}
