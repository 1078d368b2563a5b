/** A histogram of the similarity of questions to cached ones, with the same numbers as a table for screen readers. */
import { ChartTable } from '../components/chart.tsx'
import type { Calibration } from '../types.ts'

const WIDTH = 600
const HEIGHT = 150
const GAP = 2

const PARTS = [
  { title: 'Served', color: 'fill-semantic', swatch: 'bg-semantic', of: (bin: Bin) => bin.served },
  { title: 'Blocked', color: 'fill-miss', swatch: 'bg-miss', of: (bin: Bin) => bin.stopped },
] as const
type Bin = Calibration['histogram'][number]

export function SimilarityHistogram({ histogram, threshold }: { histogram: readonly Bin[]; threshold: number }) {
  const max = Math.max(1, ...histogram.map(bin => bin.served + bin.stopped))
  const width = WIDTH / histogram.length
  const line = ((threshold - 0.5) / 0.5) * WIDTH
  return (
    <figure aria-label="Questions by similarity">
      <figcaption className="mb-2 flex flex-wrap gap-x-4 gap-y-1 text-xs text-muted">
        {PARTS.map(({ title, swatch }) => (
          <span key={title} className="flex items-center gap-1.5">
            <span className={`size-2.5 rounded-sm ${swatch}`} />
            {title}
          </span>
        ))}
        <span className="flex items-center gap-1.5">
          <span className="size-2.5 rounded-full bg-danger" />
          Marked different by a person or the judge
        </span>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT + 12}`} className="w-full" role="img" aria-label="Histogram of similarity">
        {histogram.map((bin, at) => (
          <Bar
            key={bin.at_least}
            bin={bin}
            x={at * width}
            width={width}
            max={max}
            isServed={bin.at_least >= threshold - 1e-9}
          />
        ))}
        <line x1={0} x2={WIDTH} y1={HEIGHT} y2={HEIGHT} className="stroke-line" />
        <line x1={line} x2={line} y1={0} y2={HEIGHT} className="stroke-accent" strokeWidth={2} strokeDasharray="4 3" />
      </svg>
      <div className="flex justify-between text-xs text-muted tabular-nums" aria-hidden="true">
        {['0.50', '0.60', '0.70', '0.80', '0.90', '1.00'].map(tick => (
          <span key={tick}>{tick}</span>
        ))}
      </div>
      <ChartTable
        titles={['Similarity from', 'Served', 'Not served', 'Marked same', 'Marked different']}
        rows={histogram
          .filter(bin => bin.served + bin.stopped + bin.same + bin.different > 0)
          .map(bin => [bin.at_least.toFixed(2), bin.served, bin.stopped, bin.same, bin.different])}
      />
    </figure>
  )
}

interface BarProps {
  bin: Bin
  x: number
  width: number
  max: number
  isServed: boolean
}

function Bar({ bin, x, width, max, isServed }: BarProps) {
  let top = HEIGHT
  return (
    <g className={isServed ? '' : 'opacity-35'}>
      {PARTS.map(({ title, color, of }) => {
        const height = (of(bin) / max) * HEIGHT
        top -= height
        return <rect key={title} x={x + GAP / 2} y={top} width={width - GAP} height={height} className={color} />
      })}
      {bin.different > 0 && <circle cx={x + width / 2} cy={HEIGHT + 7} r={3.5} className="fill-danger" />}
    </g>
  )
}
