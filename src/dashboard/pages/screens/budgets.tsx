/** A project's budgets: what is set, what is left, and setting and removing one. */
import type { Action } from '../components/actions.tsx'
import { Badge, Warnings } from '../components/elements.tsx'
import { Resource } from '../components/resource.tsx'
import { formatCount, formatTime, formatUsd, isolateDirection } from '../format.ts'
import { useProjectPath } from '../session.ts'
import type { ViewRow } from '../types.ts'

type Budget = ViewRow<'project_budgets'>

const PERIODS = [
  ['month', 'A month'],
  ['week', 'A week, from Monday'],
  ['day', 'A day'],
  ['total', 'In all'],
] as const
const UNITS = [
  ['usd', 'US dollars'],
  ['tokens', 'Tokens'],
] as const
const SCOPES = [
  ['project', 'The whole project'],
  ['model', 'One model'],
  ['tag', 'One tag'],
  ['api_key_id', 'One API key'],
] as const

export function Budgets() {
  return (
    <Resource<Budget>
      path={useProjectPath('budgets')}
      query={{}}
      refreshMs={5_000}
      title="Budgets"
      empty={{ title: 'No budget', help: 'Nothing limits what this project may spend.' }}
      nameOf={budget => `the budget of ${scopeOf(budget)}`}
      columns={[
        {
          title: 'For',
          look: 'strong',
          cell: budget => (
            <>
              {isolateDirection(scopeOf(budget))}
              <Warnings warnings={budget.warnings} />
            </>
          ),
        },
        { title: 'Per', cell: budget => <Badge>{budget.per}</Badge> },
        { title: 'Budget', numeric: true, cell: budget => format(budget, budget.amount) },
        { title: 'Spent', numeric: true, cell: budget => format(budget, budget.spent) },
        { title: 'Left', numeric: true, cell: budget => format(budget, budget.remaining) },
        { title: 'Resets', cell: ({ resets_at }) => (resets_at === null ? 'Never' : formatTime(resets_at)) },
      ]}
      make={SET}
      actions={[REMOVE]}
    />
  )
}

function scopeOf({ api_key_name, api_key_id, tag, model }: Budget): string {
  const named = [api_key_name ?? api_key_id, tag, model].filter(part => part !== null)
  return named.length === 0 ? 'The whole project' : named.join(', ')
}

function format({ unit }: Budget, amount: number): string {
  return unit === 'usd' ? formatUsd(amount) : formatCount(amount)
}

const SET: Action<null> = {
  title: 'Set budget',
  requiredRole: 'owner',
  confirmation: () => ({
    fields: [
      { name: 'amount', label: 'Amount', inputMode: 'decimal', read: Number },
      { name: 'unit', label: 'Of', choices: UNITS },
      { name: 'per', label: 'Per', choices: PERIODS },
      { name: 'scope', label: 'For', choices: SCOPES },
      {
        name: 'named',
        label: 'Name',
        hint: 'A model’s name, a tag such as team=search, or a key’s id.',
        isShown: ({ scope }) => scope !== 'project',
      },
    ],
    toBody: ({ scope, named, ...read }) => ({ ...read, ...(named !== undefined && { [String(scope)]: named }) }),
  }),
}

const REMOVE: Action<Budget> = {
  title: 'Remove',
  requiredRole: 'owner',
  method: 'DELETE',
  confirmation: budget => ({
    title: 'Remove budget',
    action: 'Remove',
    text: `${isolateDirection(scopeOf(budget))} may then spend any amount, as far as other budgets allow.`,
  }),
}
