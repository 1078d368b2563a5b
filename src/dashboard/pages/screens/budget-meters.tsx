/** The project's budgets as bars, each in its current period. */
import { useQuery } from '@tanstack/react-query'
import { Card } from '../components/elements.tsx'
import { formatPercent, formatTime, isolateDirection } from '../format.ts'
import { useProjectPath } from '../session.ts'
import type { ApiPage } from '../types.ts'
import { type Budget, describeScope, formatAmount, PERIOD_TITLES } from './budgets.tsx'

export function BudgetMeters() {
  const path = useProjectPath('budgets')
  const budgets = useQuery<ApiPage<Budget>, Error, Budget[]>({
    queryKey: [path ?? '', {}],
    select: page => page.data,
    enabled: path !== null,
    refetchInterval: 30_000,
  })
  if (!budgets.data?.length) return null
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      {budgets.data.map(budget => (
        <Meter
          key={budget.id}
          title={`${PERIOD_TITLES.get(budget.per) ?? budget.per} budget: ${isolateDirection(describeScope(budget))}`}
          used={budget.spent}
          limit={budget.amount}
          format={amount => formatAmount(budget, amount)}
          note={describeState(budget)}
        />
      ))}
    </div>
  )
}

function describeState(budget: Budget): string {
  const reserved = `${formatAmount(budget, budget.reserved)} reserved by requests in flight`
  return budget.resets_at === null ? reserved : `${reserved}; resets ${formatTime(budget.resets_at)}`
}

interface MeterProps {
  title: string
  used: number
  limit: number
  format(value: number): string
  note?: string
}

export function Meter({ title, used, limit, format, note }: MeterProps) {
  const share = limit === 0 ? 1 : used / limit
  return (
    <Card className="p-4">
      <div className="flex items-baseline justify-between gap-2">
        <h2 className="min-w-0 font-medium [overflow-wrap:anywhere]">{title}</h2>
        <span className="text-xs text-muted">{formatPercent(share)}</span>
      </div>
      <p className="mt-1 text-2xl font-semibold tracking-tight tabular-nums">
        {format(used)} <span className="text-sm font-normal text-muted">of {format(limit)}</span>
      </p>
      {note && <p className="text-xs text-muted">{note}</p>}
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
