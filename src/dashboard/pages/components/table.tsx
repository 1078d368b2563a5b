/** A table that scrolls horizontally on narrow screens, with states for loading, errors and no rows. */
import type { ReactNode } from 'react'
import { escapeControlCharacters } from '../format.ts'
import { ColumnHeader, type SortOrder } from './column-header.tsx'
import { ErrorMessage, Loading, UserText } from './elements.tsx'
import { type NextPage, ShowMore } from './show-more.tsx'

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

interface TableProps<Row> {
  label: string
  columns: readonly Column<Row>[]
  rows: readonly Row[] | undefined
  keyOf(row: Row): string
  error?: Error | null
  empty: ReactNode
  more?: NextPage
  /** The current order of a table whose columns sort it. */
  order?: SortOrder | undefined
  /** Whether a row is the sum of the others. */
  isTotal?(row: Row): boolean
}

export function Table<Row>(props: TableProps<Row>) {
  const { label, columns, rows, keyOf, error = null, empty, more = null, order, isTotal } = props
  // After a failed refresh, the rows of the last one stand below its error.
  const failure = error && (
    <div className="p-4">
      <ErrorMessage error={error} />
    </div>
  )
  if (rows === undefined) return failure ?? <Loading />
  if (rows.length === 0) return failure ?? empty
  return (
    <>
      {failure}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
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
      <ShowMore more={more} />
    </>
  )
}
