/** Lists the most used items of one kind, with a bar for each. */
import { useState } from 'react'
import { Button } from '../components/elements.tsx'
import { escapeControlCharacters, formatPercent, formatPlural, formatUsd } from '../format.ts'
import type { UsageShare } from '../types.ts'
import { RequestCountLink, type RequestSelection } from './request-count-link.tsx'

const INITIAL_ITEMS = 8

/** The server returns at most this many items. */
const MAX_ITEMS = 20

interface UsageSharesProps {
  rows: readonly UsageShare[]
  /** The kind of item, for screen readers. */
  what: string
  /** Filters the page by one item. */
  onPick?(name: string): void
  /** Returns the requests of one item; null when no filter can select them. */
  rowsOf?(name: string): RequestSelection | null
}

export function UsageShares({ rows, what, onPick, rowsOf }: UsageSharesProps) {
  const [isExpanded, setExpanded] = useState(false)
  const max = Math.max(1, ...rows.map(row => row.requests))
  return (
    <ul className="divide-y divide-line">
      {rows.slice(0, isExpanded ? MAX_ITEMS : INITIAL_ITEMS).map(row => (
        <li key={row.name} className="px-4 py-2.5">
          <div className="flex flex-wrap items-baseline justify-between gap-x-3">
            <span className="max-w-full truncate font-mono text-xs" title={escapeControlCharacters(row.name)}>
              <span className="sr-only">{what} </span>
              {onPick ? (
                <button
                  type="button"
                  className="min-h-6 max-w-full truncate hover:underline"
                  onClick={() => onPick(row.name)}
                >
                  <bdi>{escapeControlCharacters(row.name) || '–'}</bdi>
                </button>
              ) : (
                <bdi>{escapeControlCharacters(row.name)}</bdi>
              )}
            </span>
            <span className="shrink-0 text-xs text-muted tabular-nums">
              <b className="font-medium text-ink">
                <Requests rows={rowsOf?.(row.name)} count={row.requests} />
              </b>
              , {formatPercent(row.requests === 0 ? null : row.hits / row.requests)} hits, {formatUsd(row.cost_usd)}
            </span>
          </div>
          <div className="mt-1.5 flex h-1.5 overflow-hidden rounded-full bg-sunken" aria-hidden="true">
            <div className="bg-exact" style={{ width: `${(100 * row.hits) / max}%` }} />
            <div className="bg-miss" style={{ width: `${(100 * (row.requests - row.hits)) / max}%` }} />
          </div>
        </li>
      ))}
      {rows.length > INITIAL_ITEMS && (
        <li className="px-4 py-2 text-xs text-muted">
          {isExpanded ? (
            rows.length >= MAX_ITEMS && `Only the ${MAX_ITEMS} most used are listed.`
          ) : (
            <Button look="quiet" className="text-xs" onClick={() => setExpanded(true)}>
              Show {rows.length - INITIAL_ITEMS} more
            </Button>
          )}
        </li>
      )}
    </ul>
  )
}

function Requests({ rows, count }: { rows: RequestSelection | null | undefined; count: number }) {
  const shown = formatPlural(count, 'request')
  return rows ? <RequestCountLink rows={rows}>{shown}</RequestCountLink> : shown
}
