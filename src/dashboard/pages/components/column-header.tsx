/** The header of a table's column. A click on a sortable one sorts the table by it, in descending order. */

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
