/** A list of the admin API as people see it: its rows as a table, what may be done with each, and making another. */
import type { ReactNode } from 'react'
import type { QueryParameters } from '../api.ts'
import { usePagedList } from '../paged-list.ts'
import { useProject } from '../session.ts'
import { type Action, isActionAllowed, useActions } from './actions.tsx'
import { Button, Card, EmptyState, ErrorMessage, PageHeader } from './elements.tsx'
import { buildColumns, type ResourceColumnOptions } from './resource-columns.tsx'
import { Table } from './table.tsx'

interface ResourceProps<Row> extends ResourceColumnOptions<Row> {
  /** The heading, and what it is about, of a page that is this list; without it, it is a card among others. */
  page?: { title: string; help: ReactNode }
  /** The card's title, and the table's name, if that is another. */
  title?: string
  label?: string
  /** Null while it is not known. */
  path: string | null
  /** Fifty rows to a page, unless it is said. */
  query?: QueryParameters
  /** How often it is asked for again: for lists in one page, or with the newest first. */
  refreshMs?: number | undefined
  /** Where a row is, if not below `path` under its id. */
  addressOf?(row: Row): string
  /** What is asked for again after a change, by how its address begins; the list alone, unless it is said. */
  refreshes?: readonly string[]
  /** Makes another; its subject is nothing. */
  make?: Action<null> | false | undefined
  /** Beside the card's title, in place of the button that makes another: what narrows the list down. */
  side?: ReactNode
  /** Between the card's head and the table. */
  note?: ReactNode
  empty: { title: string; help: ReactNode }
  /** More cards of the same page. */
  children?: ReactNode
}

export function Resource<Row extends { id: string }>(props: ResourceProps<Row>) {
  const { page, path, query, refreshMs, title, label = title ?? page?.title ?? '', make, empty, children } = props
  const project = useProject()
  const list = usePagedList<Row>(path ?? '', query ?? { limit: 50 }, { refetchMs: refreshMs, enabled: path !== null })
  const addressOf = (row: Row | null) => (row === null ? `${path}` : (props.addressOf?.(row) ?? `${path}/${row.id}`))
  const { act, error, dialog } = useActions<Row | null>(addressOf, props.refreshes ?? [`${path}`])
  const maker = make && path !== null && isActionAllowed(make, project) && (
    <Button look={page ? 'primary' : 'plain'} onClick={() => act(make, null)}>
      {make.title}
    </Button>
  )
  const card = (
    <Card {...(title !== undefined && { title })} action={props.side ?? (!page && maker)}>
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
        empty={
          <EmptyState title={empty.title} action={page && maker}>
            {empty.help}
          </EmptyState>
        }
        columns={buildColumns(props, project, act)}
      />
      {dialog}
    </Card>
  )
  if (!page) return card
  return (
    <>
      <PageHeader title={page.title} action={maker}>
        {page.help}
      </PageHeader>
      <div className="space-y-5">
        {card}
        {children}
      </div>
    </>
  )
}
