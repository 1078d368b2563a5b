/** The budgets of a project: amounts, spending, and the actions to set and delete a budget. */
import type { Action } from '../components/actions.tsx'
import { Badge, Warnings } from '../components/elements.tsx'
import { Resource } from '../components/resource.tsx'
import { formatCount, formatTime, formatUsd, isolateDirection } from '../format.ts'
import { useProjectPath } from '../session.ts'
import type { ViewRow } from '../types.ts'

export type Budget = ViewRow<'project_budgets'>

const PERIODS = [
  ['month', 'Monthly'],
  ['week', 'Weekly, from Monday'],
  ['day', 'Daily'],
  ['total', 'Total'],
] as const
export const PERIOD_TITLES = new Map<string, string>(PERIODS)
const UNITS = [
  ['usd', 'US dollars'],
  ['tokens', 'Tokens'],
] as const
const SCOPES = [
  ['project', 'Whole project'],
  ['model', 'Model'],
  ['tag', 'Tag'],
  ['api_key_id', 'API key'],
] as const

export function Budgets() {
  return (
    <Resource<Budget>
      path={useProjectPath('budgets')}
      query={{}}
      refreshMs={5_000}
      title="Budgets"
      empty={{ title: 'No budgets', help: 'This project has no budget of its own.' }}
      nameOf={budget => `budget for ${describeScope(budget)}`}
      columns={[
        {
          title: 'Applies to',
          look: 'strong',
          cell: budget => (
            <>
              {isolateDirection(describeScope(budget))}
              <Warnings warnings={budget.warnings} />
            </>
          ),
        },
        { title: 'Period', cell: ({ per }) => <Badge>{PERIOD_TITLES.get(per) ?? per}</Badge> },
        { title: 'Budget', numeric: true, cell: budget => formatAmount(budget, budget.amount) },
        { title: 'Spent', numeric: true, cell: budget => formatAmount(budget, budget.spent) },
        { title: 'Remaining', numeric: true, cell: budget => formatAmount(budget, budget.remaining) },
        { title: 'Resets', cell: ({ resets_at }) => (resets_at === null ? 'Never' : formatTime(resets_at)) },
      ]}
      create={SET}
      actions={[DELETE]}
    />
  )
}

export function describeScope({ api_key_name, api_key_id, tag, model }: Budget): string {
  const parts = [api_key_name ?? api_key_id, tag, model].filter(part => part !== null)
  return parts.length === 0 ? 'Whole project' : parts.join(', ')
}

/** Formats an amount in the unit of the budget. */
export function formatAmount({ unit }: Budget, amount: number): string {
  return unit === 'usd' ? formatUsd(amount) : formatCount(amount)
}

const SET: Action<null> = {
  title: 'Add budget',
  requiredRole: 'owner',
  confirmation: () => ({
    fields: [
      { name: 'amount', label: 'Amount', inputMode: 'decimal', read: Number },
      { name: 'unit', label: 'Unit', choices: UNITS },
      { name: 'per', label: 'Period', choices: PERIODS },
      { name: 'scope', label: 'Applies to', choices: SCOPES },
      {
        name: 'named',
        label: 'Model, tag or API key ID',
        hint: 'Such as gpt-4o-mini, team=search or key_12.',
        isShown: ({ scope }) => scope !== 'project',
      },
    ],
    toBody: ({ scope, named, ...read }) => ({ ...read, ...(named !== undefined && { [String(scope)]: named }) }),
  }),
}

const DELETE: Action<Budget> = {
  title: 'Delete',
  requiredRole: 'owner',
  method: 'DELETE',
  confirmation: budget => ({
    title: 'Delete this budget?',
    action: 'Delete budget',
    text: `This budget (${isolateDirection(describeScope(budget))}) no longer limits spending. Other budgets still apply.`,
  }),
}
