/** A small line that shows the trend of a figure in a row of a table. */
const WIDTH = 96
const HEIGHT = 24
/** Half of the line's width, so that it is not cut at the edges. */
const INSET = 1

/** `label` describes the trend to screen readers. */
export function Sparkline({ values, label }: { values: readonly number[]; label: string }) {
  const highest = Math.max(...values, 0)
  const step = (WIDTH - 2 * INSET) / Math.max(1, values.length - 1)
  const points = values.map((value, at) => {
    const height = highest === 0 ? 0 : (value / highest) * (HEIGHT - 2 * INSET)
    return `${(INSET + at * step).toFixed(1)},${(HEIGHT - INSET - height).toFixed(1)}`
  })
  return (
    <svg
      role="img"
      aria-label={label}
      width={WIDTH}
      height={HEIGHT}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      className="ml-auto block text-accent"
    >
      <polyline
        points={points.join(' ')}
        fill="none"
        stroke="currentColor"
        strokeWidth={1.5}
        strokeLinejoin="round"
        strokeLinecap="round"
      />
    </svg>
  )
}
