/** The project's budgets as bars, each in its current period. */
import { Card } from '../components/elements.tsx'
import { formatPercent, formatTime, isolateDirection } from '../format.ts'
import { useProject } from '../session.ts'
import { type Budget, describeScope, formatAmount, PERIOD_TITLES, useBudgets } from './budgets.tsx'

const REFRESH_MS = 30_000

export function BudgetMeters() {
  const budgets = useBudgets(useProject()?.id, { refetchInterval: REFRESH_MS })
  if (!budgets?.length) return null
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      {budgets.map(budget => (
        <BudgetMeter key={budget.id} budget={budget} />
      ))}
    </div>
  )
}

function BudgetMeter({ budget }: { budget: Budget }) {
  const { per, spent, amount, reserved, resets_at } = budget
  const title = `${PERIOD_TITLES.get(per) ?? per} budget: ${isolateDirection(describeScope(budget))}`
  const share = amount === 0 ? 1 : spent / amount
  return (
    <Card className="p-4">
      <div className="flex items-baseline justify-between gap-2">
        <h2 className="min-w-0 font-medium [overflow-wrap:anywhere]">{title}</h2>
        <span className="text-xs text-muted">{formatPercent(share)}</span>
      </div>
      <p className="mt-1 text-2xl font-semibold tracking-tight tabular-nums">
        {formatAmount(budget, spent)}{' '}
        <span className="text-sm font-normal text-muted">of {formatAmount(budget, amount)}</span>
      </p>
      <p className="text-xs text-muted">
        {formatAmount(budget, reserved)} reserved by requests in flight
        {resets_at !== null && `; resets ${formatTime(resets_at)}`}
      </p>
      <div className="mt-3">
        <UsageBar title={title} share={share} />
      </div>
    </Card>
  )
}

/** `share` may exceed 1. */
export function UsageBar({ title, share }: { title: string; share: number }) {
  const color = share >= 1 ? 'bg-danger' : share >= 0.8 ? 'bg-warn' : 'bg-exact'
  return (
    <>
      <meter className="sr-only" aria-label={title} min={0} max={1} value={Math.min(1, share)} />
      <div aria-hidden="true" className="h-2 overflow-hidden rounded-full bg-sunken">
        <div className={`h-full rounded-full ${color}`} style={{ width: `${Math.min(100, share * 100)}%` }} />
      </div>
    </>
  )
}
