/** A list of the admin API as a table, with actions on each row and an action that creates a row. */
import type { ReactNode } from 'react'
import type { QueryParameters } from '../api.ts'
import { useOpenedByLink } from '../opened-by-link.ts'
import { usePagedList } from '../paged-list.ts'
import { useProject } from '../session.ts'
import { type Action, isActionAllowed, useActions } from './actions.tsx'
import type { SortOrder } from './column-header.tsx'
import { Button, Card, EmptyState, ErrorMessage, PageHeader } from './elements.tsx'
import { buildColumns, type ResourceColumnOptions } from './resource-columns.tsx'
import { Table } from './table.tsx'

interface ResourceProps<Row> extends ResourceColumnOptions<Row> {
  /** The heading and description, if the list is a page of its own. Without it, the list is one card of a page. */
  page?: { title: string; help: ReactNode }
  /** The title of the card. */
  title?: string
  /** The name of the table for screen readers. Defaults to the title. */
  label?: string
  /** The URL path of the list. Null while the project is loading. */
  path: string | null
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
  empty: { title: string; help: ReactNode }
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
        empty={
          <EmptyState title={empty.title} action={page && createButton}>
            {empty.help}
          </EmptyState>
        }
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
