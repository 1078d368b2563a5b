/** The budgets of a project: amounts, spending, and the actions to set and delete a budget. */
import type { Action } from '../components/actions.tsx'
import { Badge, Warnings } from '../components/elements.tsx'
import type { FormField, FormValues } from '../components/form.tsx'
import { searchModels, searchNames, searchTimeZones } from '../components/picker-sources.ts'
import { Resource } from '../components/resource.tsx'
import { formatCount, formatTime, formatUsd, isolateDirection } from '../format.ts'
import { useRows } from '../queries.ts'
import { PROJECTS_PATH, useProject, useProjectPath } from '../session.ts'
import type { ViewRow } from '../types.ts'

export type Budget = ViewRow<'project_budgets'>

export const PERIODS = [
  ['month', 'Monthly'],
  ['week', 'Weekly, from Monday'],
  ['day', 'Daily'],
  ['total', 'Total'],
] as const
export const PERIOD_TITLES = new Map<string, string>(PERIODS)
export const UNITS = [
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
  const project = useProject()
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
      create={project !== null && createAddAction(project.id)}
      actions={[DELETE]}
    />
  )
}

/** Returns the budgets of a project; undefined while they are loading. */
export function useBudgets(projectId: string | undefined, options = {}): readonly Budget[] | undefined {
  const path = `${PROJECTS_PATH}/${projectId}/budgets`
  return useRows<Budget>(path, {}, { enabled: projectId !== undefined, ...options }).data
}

type Scope = Record<'api_key_name' | 'api_key_id' | 'tag' | 'model', string | null>

export function describeScope({ api_key_name, api_key_id, tag, model }: Scope): string {
  const parts = [api_key_name ?? api_key_id, tag, model].filter(part => part !== null)
  return parts.length === 0 ? 'Whole project' : parts.join(', ')
}

/** Describes a budget in one line, such as `$2.00 of $10.00 spent, monthly`. */
export function describeBudget(budget: Budget): string {
  const [spent, amount] = [formatAmount(budget, budget.spent), formatAmount(budget, budget.amount)]
  return `${spent} of ${amount}${budget.unit === 'tokens' ? ' tokens' : ''} spent, ${(PERIOD_TITLES.get(budget.per) ?? budget.per).toLowerCase()}`
}

/** Formats an amount in the unit of the budget. */
export function formatAmount({ unit }: Budget, amount: number): string {
  return unit === 'usd' ? formatUsd(amount) : formatCount(amount)
}

/** Fields of a budget: its amount, unit and period. */
export const AMOUNT_FIELDS: readonly FormField[] = [
  { name: 'amount', label: 'Amount', inputMode: 'decimal', read: Number },
  { name: 'unit', label: 'Unit', choices: UNITS },
  { name: 'per', label: 'Period', choices: PERIODS },
]

function createAddAction(projectId: string): Action<null> {
  const isShown = (name: string) => (values: FormValues) => values.scope === name
  return {
    title: 'Add budget',
    requiredRole: 'owner',
    confirmation: () => ({
      fields: [
        ...AMOUNT_FIELDS,
        { name: 'scope', label: 'Applies to', choices: SCOPES },
        { name: 'model', label: 'Model', picker: searchModels(projectId), isShown: isShown('model') },
        {
          name: 'tag',
          label: 'Tag',
          picker: { ...searchNames('tag', projectId), allowsNew: true },
          hint: 'A name and a value, such as team=search.',
          isShown: isShown('tag'),
        },
        {
          name: 'api_key_id',
          label: 'API key',
          picker: searchNames('api_key', projectId),
          isShown: isShown('api_key_id'),
        },
        {
          name: 'time_zone',
          label: 'Time zone',
          picker: searchTimeZones(),
          initial: 'UTC',
          hint: 'Periods begin at midnight there.',
        },
      ],
      toBody: ({ scope, ...read }) => read,
    }),
  }
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
