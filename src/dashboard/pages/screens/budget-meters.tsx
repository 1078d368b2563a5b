/** The project's budgets as bars, each in its current period. */
import { useQuery } from '@tanstack/react-query'
import { Meter } from '../components/meter.tsx'
import { formatTime, isolateDirection } from '../format.ts'
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
