/** The most used items, as bars beside their names. */
import { useState } from 'react'
import { Button } from '../components/elements.tsx'
import { escapeControlCharacters, formatPercent, formatPlural, formatUsd } from '../format.ts'
import type { UsageShare } from '../types.ts'
import { RequestCountLink, type RequestSelection } from './request-count-link.tsx'

const SHOWN = 8

/** The server gives no more. */
const MOST = 20

interface SharesProps {
  rows: readonly UsageShare[]
  what: string
  /** Narrows the page to one of them. */
  onPick?(name: string): void
  /** The requests of one of them; null where no filter finds them. */
  rowsOf?(name: string): RequestSelection | null
}

export function UsageShares({ rows, what, onPick, rowsOf }: SharesProps) {
  const [isWhole, setWhole] = useState(false)
  const most = Math.max(1, ...rows.map(row => row.requests))
  return (
    <ul className="divide-y divide-line">
      {rows.slice(0, isWhole ? MOST : SHOWN).map(row => (
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
            <div className="bg-exact" style={{ width: `${(100 * row.hits) / most}%` }} />
            <div className="bg-miss" style={{ width: `${(100 * (row.requests - row.hits)) / most}%` }} />
          </div>
        </li>
      ))}
      {rows.length > SHOWN && (
        <li className="px-4 py-2 text-xs text-muted">
          {isWhole ? (
            rows.length >= MOST && `The ${MOST} most used.`
          ) : (
            <Button look="quiet" className="text-xs" onClick={() => setWhole(true)}>
              {rows.length - SHOWN} more{rows.length >= MOST && `, and perhaps others`}
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
