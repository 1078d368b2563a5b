/** The columns of a resource that do something: a field that is changed in its place, and a row's buttons. */
import { isolateDirection } from '../format.ts'
import { hasRole } from '../session.ts'
import type { Project, Role } from '../types.ts'
import { type Action, isActionAllowed, type RunAction } from './actions.tsx'
import { RowButton } from './elements.tsx'
import { Select, type SelectOption } from './select.tsx'
import type { Column } from './table.tsx'

export interface ResourceColumn<Row> extends Column<Row> {
  /** Offered in place of the cell, to whoever may change it. */
  change?: { field: keyof Row & string; choices: readonly SelectOption[]; needs?: Role }
}

export interface ResourceColumnOptions<Row> {
  columns: readonly ResourceColumn<Row>[]
  actions?: readonly Action<Row>[]
  /** What a row is called, for screen readers. */
  nameOf?(row: Row): string
}

/** Those of the buttons that the user may use in this project. */
export function buildColumns<Row>(
  { columns, actions = [], nameOf = () => '' }: ResourceColumnOptions<Row>,
  project: Project | null,
  act: RunAction<Row>,
): Column<Row>[] {
  const nameIn = (row: Row) => isolateDirection(nameOf(row))
  const shown = columns.map(column => {
    const { change, title } = column
    if (change === undefined || (change.needs && !hasRole(project, change.needs))) return column
    const { field, choices } = change
    const cell = (row: Row) => (
      <Select
        aria-label={`${title} of ${nameIn(row)}`}
        choices={choices}
        value={String(row[field])}
        onChange={value => act({ title }, row, { [field]: value })}
      />
    )
    return { ...column, cell }
  })
  const allowed = actions.filter(action => isActionAllowed(action, project))
  if (allowed.length === 0) return shown
  const buttons = (row: Row) => (
    <span className="flex justify-end gap-1">
      {allowed
        .filter(({ isAvailable }) => isAvailable?.(row) ?? true)
        .map(action => (
          <RowButton
            key={action.title}
            look={action.look ?? 'danger'}
            aria-label={`${action.label ?? action.title} ${nameIn(row)}`}
            onClick={() => act(action, row)}
          >
            {action.title}
          </RowButton>
        ))}
    </span>
  )
  return [...shown, { title: '', numeric: true, cell: buttons }]
}
