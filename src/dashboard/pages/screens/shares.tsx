/** The most used items, as bars beside their names. */
import { formatCount, formatPercent, formatUsd } from '../format.ts'
import type { Share } from '../types.ts'

const SHOWN = 8

export function Shares({ rows, what }: { rows: readonly Share[]; what: string }) {
  const most = Math.max(1, ...rows.map(row => row.requests))
  return (
    <ul className="divide-y divide-line">
      {rows.slice(0, SHOWN).map(row => (
        <li key={row.name} className="px-4 py-2.5">
          <div className="flex items-baseline justify-between gap-3">
            <span className="min-w-0 truncate font-mono text-xs" title={row.name}>
              <span className="sr-only">{what} </span>
              {row.name}
            </span>
            <span className="shrink-0 text-xs text-muted tabular-nums">
              <b className="font-medium text-ink">{formatCount(row.requests)}</b> requests,{' '}
              {formatPercent(row.requests === 0 ? null : row.hits / row.requests)} hits, {formatUsd(row.cost_usd)}
            </span>
          </div>
          <div className="mt-1.5 flex h-1.5 overflow-hidden rounded-full bg-sunken" aria-hidden="true">
            <div className="bg-exact" style={{ width: `${(100 * row.hits) / most}%` }} />
            <div className="bg-miss" style={{ width: `${(100 * (row.requests - row.hits)) / most}%` }} />
          </div>
        </li>
      ))}
    </ul>
  )
}
