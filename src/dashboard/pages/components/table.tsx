/** Lists and tables, with states for loading, errors and no rows. A table scrolls horizontally on narrow screens. */
import type { ReactNode } from 'react'
import { escapeControlCharacters } from '../format.ts'
import type { usePagedList } from '../paged-list.ts'
import { Button, EmptyState, type EmptyStateProps, ErrorMessage, Loading, UserText } from './elements.tsx'

export interface Column<Row> {
  title: string
  cell(row: Row): ReactNode
  /** The order by which the column sorts the table. */
  sort?: string
  /** Aligns the column right. */
  numeric?: boolean
  /** `strong` for the name of a row, `code` for identifiers, `line` for text that must not wrap. */
  look?: keyof typeof LOOKS
}

const LOOKS = {
  strong: 'font-medium',
  code: 'font-mono text-xs whitespace-nowrap',
  line: 'whitespace-nowrap',
}

/** The content of a cell. Text in any column may come from other people, so it is escaped. */
function CellContent({ look, children }: { look: keyof typeof LOOKS | undefined; children: ReactNode }) {
  if (typeof children !== 'string') return children
  return look === 'line' || look === 'code' ? (
    <bdi>{escapeControlCharacters(children)}</bdi>
  ) : (
    <UserText>{children}</UserText>
  )
}

interface ListProps<Row> {
  rows: readonly Row[] | undefined
  error?: Error | null
  /** Shown when there are no rows. */
  empty?: EmptyStateProps
  more?: ReturnType<typeof usePagedList>['more']
}

/** The rows of a list, or what stands in their place: why they could not be loaded, that they are being loaded, or that there are none. */
export function List<Row>({
  rows,
  error = null,
  empty,
  more = null,
  children,
}: ListProps<Row> & { children(rows: readonly Row[]): ReactNode }) {
  // After a failed refresh, the rows of the last one stand below its error.
  const failure = error && (
    <div className="p-4">
      <ErrorMessage error={error} />
    </div>
  )
  if (rows === undefined) return failure ?? <Loading />
  if (rows.length === 0) return failure ?? (empty && <EmptyState {...empty} />)
  return (
    <>
      {failure}
      {children(rows)}
      {more && (
        <div className="border-t border-line p-3 text-center">
          <Button onClick={more.load} disabled={more.pending}>
            Show more
          </Button>
        </div>
      )}
    </>
  )
}

interface TableProps<Row> extends ListProps<Row> {
  label: string
  columns: readonly Column<Row>[]
  keyOf(row: Row): string
  /** The current order of a table whose columns sort it. */
  order?: SortOrder | undefined
  /** Whether a row is the sum of the others. */
  isTotal?(row: Row): boolean
}

export function Table<Row>({ label, columns, keyOf, order, isTotal, ...list }: TableProps<Row>) {
  return (
    <List {...list}>
      {rows => (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
        <section className="relative overflow-x-auto" tabIndex={0} aria-label={label}>
          <table className="w-full text-left">
            <thead className="text-xs text-muted">
              <tr className="border-b border-line">
                {columns.map(({ title, numeric, sort }) => (
                  <ColumnHeader key={title} title={title} numeric={numeric} sort={sort} order={order} />
                ))}
              </tr>
            </thead>
            <tbody className="divide-y divide-line">
              {rows.map(row => (
                <tr key={keyOf(row)} className={`hover:bg-sunken/60 ${isTotal?.(row) ? '[&_td]:font-semibold' : ''}`}>
                  {columns.map(({ title, cell, numeric, look }) => (
                    <td
                      key={title}
                      className={`px-3 py-2.5 first:pl-4 last:pr-4 align-middle ${numeric ? 'text-right tabular-nums' : ''} ${look ? LOOKS[look] : ''}`}
                    >
                      <CellContent look={numeric ? 'line' : look}>{cell(row)}</CellContent>
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </List>
  )
}

export interface SortOrder {
  sort: string
  onSort(sort: string): void
}

interface ColumnHeaderProps {
  /** Empty for a column of buttons. */
  title: string
  numeric?: boolean | undefined
  /** The order that the column sorts by. */
  sort?: string | undefined
  order?: SortOrder | undefined
}

/** The header of a column. A click on a sortable one sorts the table by it, in descending order. */
export function ColumnHeader({ title, numeric, sort, order }: ColumnHeaderProps) {
  const isSortable = sort !== undefined && order !== undefined
  const isSorted = isSortable && sort === order.sort
  return (
    <th
      scope="col"
      aria-sort={isSortable ? (isSorted ? 'descending' : 'none') : undefined}
      className={`px-3 py-2.5 first:pl-4 last:pr-4 font-medium whitespace-nowrap ${numeric ? 'text-right' : ''}`}
    >
      {isSortable ? (
        <button
          type="button"
          onClick={() => order.onSort(sort)}
          className={`-mx-1.5 -my-1 rounded-md px-1.5 py-1 hover:bg-sunken hover:text-ink ${isSorted ? 'text-ink' : ''}`}
        >
          {title}
          <span aria-hidden="true" className={isSorted ? '' : 'opacity-40'}>
            {' '}
            ↓
          </span>
        </button>
      ) : title === '' ? (
        <span className="sr-only">Actions</span>
      ) : (
        title
      )}
    </th>
  )
}
