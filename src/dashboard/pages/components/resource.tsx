/** A list of the admin API as a table, with actions on each row and an action that creates a row. */
import type { ReactNode } from 'react'
import type { QueryParameters } from '../api.ts'
import { useOpenedByLink } from '../filters.ts'
import { isolateDirection } from '../format.ts'
import { usePagedList } from '../paged-list.ts'
import { hasRole, useProject } from '../session.ts'
import type { Project, Role } from '../types.ts'
import { type Action, isActionAllowed, type RunAction, useActions } from './actions.tsx'
import { Button, Card, type EmptyStateProps, ErrorMessage, PageHeader, RowButton } from './elements.tsx'
import { Select, type SelectOption } from './fields.tsx'
import { type Column, type SortOrder, Table } from './table.tsx'

interface ResourceProps<Row> {
  /** The heading and description, if the list is a page of its own. Without it, the list is one card of a page. */
  page?: { title: string; help: ReactNode }
  /** The title of the card. */
  title?: string
  /** The name of the table for screen readers. Defaults to the title. */
  label?: string
  /** The URL path of the list. Null while the project is loading. */
  path: string | null
  columns: readonly ResourceColumn<Row>[]
  /** The buttons of each row. */
  actions?: readonly Action<Row>[]
  /** The name of a row, for screen readers. */
  nameOf?(row: Row): string
  /** Defaults to 50 rows per page. */
  query?: QueryParameters
  /** The interval between refetches, in milliseconds. Only for lists with one page, or with the newest rows first. */
  refreshMs?: number | undefined
  /** The URL of a row. Defaults to its ID below `path`. */
  urlOf?(row: Row): string
  /** URL prefixes of the queries to refetch after a change. Defaults to the list itself. */
  refreshes?: readonly string[]
  /** Creates a row. */
  create?: Action<null> | false | undefined
  /** Content beside the card's title, such as filters. It replaces the create button of a card. */
  toolbar?: ReactNode
  /** Content between the card's header and the table. */
  note?: ReactNode
  empty: EmptyStateProps
  /** The current order, if columns sort the list. */
  order?: SortOrder
  /** Further cards on the same page. */
  children?: ReactNode
}

export function Resource<Row extends { id: string }>(props: ResourceProps<Row>) {
  const { page, path, query, refreshMs, title, label = title ?? page?.title ?? '', create, empty, children } = props
  const project = useProject()
  const list = usePagedList<Row>(path ?? '', query ?? { limit: 50 }, { refetchMs: refreshMs, enabled: path !== null })
  const urlOf = (row: Row | null) => (row === null ? `${path}` : (props.urlOf?.(row) ?? `${path}/${row.id}`))
  const { act, error, dialog } = useActions<Row | null>(urlOf, props.refreshes ?? [`${path}`])
  const allowed = create && path !== null && isActionAllowed(create, project) ? create : null
  useOpenedByLink(['create'], () => allowed && act(allowed, null), page !== undefined && allowed !== null)
  const createButton = allowed && (
    <Button look={page ? 'primary' : 'plain'} onClick={() => act(allowed, null)}>
      {allowed.title}
    </Button>
  )
  const card = (
    <Card {...(title !== undefined && { title })} action={props.toolbar ?? (!page && createButton)}>
      {props.note}
      {error && (
        <div className="p-4">
          <ErrorMessage error={error} />
        </div>
      )}
      <Table
        label={label}
        {...list}
        keyOf={row => row.id}
        empty={{ ...empty, action: page && createButton }}
        columns={buildColumns(props, project, act)}
        order={props.order}
      />
      {dialog}
    </Card>
  )
  if (!page) return card
  return (
    <>
      <PageHeader title={page.title} action={createButton}>
        {page.help}
      </PageHeader>
      <div className="space-y-5">
        {card}
        {children}
      </div>
    </>
  )
}

export interface ResourceColumn<Row> extends Column<Row> {
  /** Replaces the cell by a selection, for users who may change the field. */
  change?: { field: keyof Row & string; choices: readonly SelectOption[]; needs?: Role }
}

/** Builds the columns, with the fields and buttons that the user's role in the project allows. */
function buildColumns<Row>(
  { columns, actions = [], nameOf = () => '' }: ResourceProps<Row>,
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
