/** Lists the items of one kind with the highest usage, with a bar for each. */
import { useState } from 'react'
import { Button } from '../components/elements.tsx'
import type { Filters } from '../filters.ts'
import { escapeControlCharacters, formatCount, formatPercent, formatPlural, formatUsd } from '../format.ts'
import type { UsageShare } from '../types.ts'
import { RequestCountLink, type RequestSelection } from './request-count-link.tsx'

/** The figures of the chart, by which shares are ordered. */
export const MEASURES = { requests: 'Requests', cost: 'Cost', tokens: 'Tokens', failed: 'Errors' }
export type Measure = keyof typeof MEASURES

export function readMeasure({ measure = '' }: Filters): Measure {
  return measure in MEASURES ? (measure as Measure) : 'requests'
}

/** The parts of the bar of an item, and what is shown of it besides requests, hit rate and cost. */
const BARS: Record<
  Measure,
  { parts(share: UsageShare): [value: number, color: string][]; text?(share: UsageShare): string }
> = {
  requests: {
    parts: ({ hits, misses }) => [
      [hits, 'bg-exact'],
      [misses, 'bg-miss'],
    ],
  },
  cost: { parts: ({ cost_usd }) => [[cost_usd, 'bg-miss']] },
  tokens: { parts: ({ tokens }) => [[tokens, 'bg-miss']], text: ({ tokens }) => `${formatCount(tokens)} tokens` },
  failed: { parts: ({ failed }) => [[failed, 'bg-danger']], text: ({ failed }) => `${formatCount(failed)} failed` },
}

const INITIAL_ITEMS = 8

/** The server returns at most this many items. */
const MAX_ITEMS = 20

interface UsageSharesProps {
  rows: readonly UsageShare[]
  measure: Measure
  /** The kind of item, for screen readers. */
  what: string
  /** Filters the page by one item. */
  onPick?(name: string): void
  /** Returns the requests of one item; null when no filter can select them. */
  rowsOf(name: string): RequestSelection | null
}

export function UsageShares({ rows, measure, what, onPick, rowsOf }: UsageSharesProps) {
  const [isExpanded, setExpanded] = useState(false)
  const { parts, text } = BARS[measure]
  const lengthOf = (row: UsageShare) => parts(row).reduce((sum, [value]) => sum + value, 0)
  const max = Math.max(...rows.map(lengthOf)) || 1
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
                <RequestCountLink rows={rowsOf(row.name)}>{formatPlural(row.requests, 'request')}</RequestCountLink>
              </b>
              , {formatPercent(row.hit_rate)} hits, {formatUsd(row.cost_usd)}
              {text && `, ${text(row)}`}
            </span>
          </div>
          <div className="mt-1.5 flex h-1.5 overflow-hidden rounded-full bg-sunken" aria-hidden="true">
            {parts(row).map(([value, color]) => (
              <div key={color} className={color} style={{ width: `${(100 * value) / max}%` }} />
            ))}
          </div>
        </li>
      ))}
      {rows.length > INITIAL_ITEMS && (
        <li className="px-4 py-2 text-xs text-muted">
          {isExpanded ? (
            rows.length >= MAX_ITEMS && `Only the first ${MAX_ITEMS} are listed.`
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
