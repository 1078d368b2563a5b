/** The three largest figures of the overview: what was spent, what it would have cost without the cache, and what that saved. */
import { Figure, Figures } from '../components/figures.tsx'
import { formatPercent, formatUsd } from '../format.ts'
import type { Overview } from '../types.ts'
import { RequestCountLink, type RequestSelection } from './request-count-link.tsx'

interface MoneyFiguresProps {
  overview: Overview
  rows: RequestSelection
  /** The length of the time range, such as `24 hours`. */
  period: string
}

export function MoneyFigures({ overview, rows, period }: MoneyFiguresProps) {
  const { totals, previous_cost_usd: spentBefore, previous_saved_usd: savedBefore } = overview
  const whole = totals.cost_usd + totals.saved_usd
  const compare = (now: number, before: number) => `${describeChange(now, before)} the previous ${period}`
  return (
    <Figures columns={3}>
      <Figure
        isLarge
        title="Spent"
        value={formatUsd(totals.cost_usd)}
        change={compare(totals.cost_usd, spentBefore)}
        note={<EstimatedCost overview={overview} rows={rows} />}
      />
      <Figure
        isLarge
        title="Would have cost"
        value={formatUsd(whole)}
        change={compare(whole, spentBefore + savedBefore)}
        note="without the cache"
      />
      <Figure
        isLarge
        title="Saved"
        value={<span className="text-accent">{formatUsd(totals.saved_usd)}</span>}
        change={compare(totals.saved_usd, savedBefore)}
        note={`${whole > 0 ? `${formatPercent(totals.saved_usd / whole)} of it, ` : ''}by the cache`}
      />
    </Figures>
  )
}

/** Returns the change as the beginning of “… the previous 24 hours”. */
function describeChange(now: number, before: number): string {
  if (now === before) return 'Unchanged from'
  if (before === 0) return 'Nothing in'
  return `${now > before ? '+' : '−'}${formatPercent(Math.abs(now - before) / before)} from ${formatUsd(before)} in`
}

/** The share of the cost that is estimated, and how much more the providers may have charged. */
function EstimatedCost({ overview: { estimated }, rows }: Pick<MoneyFiguresProps, 'overview' | 'rows'>) {
  const sum = (field: 'cost_usd' | 'doubtful_usd') => estimated.reduce((total, row) => total + row[field], 0)
  if (estimated.length === 0) return 'none of it estimated'
  return (
    <>
      <RequestCountLink rows={rows} only={{ outcome: 'estimated' }}>
        {formatUsd(sum('cost_usd'))} of it estimated
      </RequestCountLink>
      {sum('doubtful_usd') > 0 && ` (up to ${formatUsd(sum('doubtful_usd'))} more)`}
    </>
  )
}
