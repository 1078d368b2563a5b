/** A stacked bar chart over time, followed by the same numbers as a table. */
import { useState } from 'react'

export interface ChartSeries {
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
  series: readonly ChartSeries[]
  format(value: number): string
  formatTime(seconds: number): string
  /** Formats the labels below the bars. */
  formatTick(seconds: number): string
}

const HEIGHT = 180
/** Share of a bucket's width. */
const BAR_WIDTH = 0.72
const MAX_TICKS = 6

/** Rounds up to the end of the axis, which has a line at half its length. */
function roundUp(max: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(max, 1e-6)))
  const steps = power < 10 ? [2, 4, 6, 8] : [1, 1.2, 1.6, 2, 3, 4, 6, 8]
  return power * (steps.find(step => step * power >= max) ?? 10)
}

export function StackedBars({ label, times, series, format, formatTime, formatTick }: ChartProps) {
  const [at, setAt] = useState<number | null>(null)
  const sums = times.map((_, bar) => series.reduce((sum, { values }) => sum + (values[bar] ?? 0), 0))
  const top = roundUp(Math.max(...sums))
  const tickInterval = Math.ceil(times.length / MAX_TICKS)
  const hoveredTime = at === null ? undefined : times[at]
  return (
    <figure aria-label={label}>
      <figcaption className="flex min-h-6 flex-wrap items-center gap-x-4 gap-y-1 px-4 pt-3 text-xs text-muted">
        {series.map(({ title, color, values }) => (
          <span key={title} className="flex items-center gap-1.5">
            <span className="size-2.5 rounded-sm" style={{ background: `var(${color})` }} />
            {title}
            {at !== null && <b className="font-medium text-ink tabular-nums">{format(values[at] ?? 0)}</b>}
          </span>
        ))}
        {hoveredTime !== undefined && <span className="ml-auto">{formatTime(hoveredTime)}</span>}
      </figcaption>
      <div aria-hidden="true" className="flex gap-2 px-4 py-3 text-xs text-muted tabular-nums">
        <div className="flex flex-col justify-between text-right" style={{ height: HEIGHT }}>
          {[top, top / 2, 0].map(value => (
            <span key={value} className="-my-2">
              {format(value)}
            </span>
          ))}
        </div>
        <div className="min-w-0 flex-1" onPointerLeave={() => setAt(null)}>
          <svg
            viewBox={`0 0 ${times.length} ${HEIGHT}`}
            preserveAspectRatio="none"
            role="img"
            aria-label={label}
            className="w-full"
            style={{ height: HEIGHT }}
          >
            {[0, HEIGHT / 2, HEIGHT].map(y => (
              <line key={y} x2={times.length} y1={y} y2={y} className="stroke-line" vectorEffect="non-scaling-stroke" />
            ))}
            {times.map((time, bar) => (
              <g key={time} onPointerEnter={() => setAt(bar)}>
                <rect x={bar} width={1} height={HEIGHT} fill="transparent" />
                <Bar at={bar} series={series} scale={HEIGHT / top} />
              </g>
            ))}
          </svg>
          <div className="relative mt-1 h-4">
            {times.map((time, bar) => (
              <span
                key={time}
                hidden={bar % tickInterval !== 0}
                className="absolute -translate-x-1/2 whitespace-nowrap"
                style={{ left: `${((bar + 0.5) / times.length) * 100}%` }}
              >
                {formatTick(time)}
              </span>
            ))}
          </div>
        </div>
      </div>
      <ChartTable
        titles={['Time', ...series.map(({ title }) => title)]}
        rows={times.map((time, bar) => [formatTime(time), ...series.map(({ values }) => format(values[bar] ?? 0))])}
      />
    </figure>
  )
}

/** `scale` is the height of the value 1 in pixels. */
function Bar({ at, series, scale }: { at: number; series: readonly ChartSeries[]; scale: number }) {
  let y = HEIGHT
  return series.map(({ title, color, values }) => {
    const height = (values[at] ?? 0) * scale
    y -= height
    const x = at + (1 - BAR_WIDTH) / 2
    return <rect key={title} x={x} y={y} width={BAR_WIDTH} height={height} style={{ fill: `var(${color})` }} />
  })
}

interface ChartTableProps {
  titles: readonly string[]
  /** The first cell of each row is its heading. */
  rows: readonly (readonly (string | number)[])[]
}

/** The numbers of a chart as a collapsible table, which also serves screen readers. */
export function ChartTable({ titles, rows }: ChartTableProps) {
  return (
    <details className="border-t border-line px-4 py-2 text-xs text-muted">
      <summary>Show as table</summary>
      <div className="mt-2 max-h-60 overflow-auto">
        <table className="w-full text-left tabular-nums">
          <thead>
            <tr>
              {titles.map(title => (
                <th key={title} scope="col" className="font-medium">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(([title, ...cells]) => (
              <tr key={title}>
                <th scope="row" className="font-normal">
                  {title}
                </th>
                {cells.map((cell, at) => (
                  <td key={titles[at + 1]}>{cell}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  )
}
