/** Interactive columns of a resource table: fields that are edited in place, and the action buttons of each row. */
import { isolateDirection } from '../format.ts'
import { hasRole } from '../session.ts'
import type { Project, Role } from '../types.ts'
import { type Action, isActionAllowed, type RunAction } from './actions.tsx'
import { RowButton } from './elements.tsx'
import { Select, type SelectOption } from './select.tsx'
import type { Column } from './table.tsx'

export interface ResourceColumn<Row> extends Column<Row> {
  /** Replaces the cell by a selection, for users who may change the field. */
  change?: { field: keyof Row & string; choices: readonly SelectOption[]; needs?: Role }
}

export interface ResourceColumnOptions<Row> {
  columns: readonly ResourceColumn<Row>[]
  actions?: readonly Action<Row>[]
  /** The name of a row, for screen readers. */
  nameOf?(row: Row): string
}

/** Builds the columns, with the fields and buttons that the user's role in the project allows. */
export function buildColumns<Row>(
  { columns, actions = [], nameOf = () => '' }: ResourceColumnOptions<Row>,
  project: Project | null,
  act: RunAction<Row>,
): Column<Row>[] {
  const displayName = (row: Row) => isolateDirection(nameOf(row))
  const shown = columns.map(column => {
    const { change, title } = column
    if (change === undefined || (change.needs && !hasRole(project, change.needs))) return column
    const { field, choices } = change
    const cell = (row: Row) => (
      <Select
        aria-label={`${title} of ${displayName(row)}`}
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
            aria-label={`${action.label ?? action.title} ${displayName(row)}`}
            onClick={() => act(action, row)}
          >
            {action.title}
          </RowButton>
        ))}
    </span>
  )
  return [...shown, { title: '', numeric: true, cell: buttons }]
}
