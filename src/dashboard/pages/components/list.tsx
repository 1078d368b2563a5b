/** A paged list whose rows need more space than a table row. */
import type { ReactNode } from 'react'
import type { usePagedList } from '../paged-list.ts'
import { EmptyState, ErrorMessage, Loading } from './elements.tsx'
import { ShowMore } from './show-more.tsx'

interface ListProps<Row extends { id: string }> extends ReturnType<typeof usePagedList<Row>> {
  empty: { title: string; help: ReactNode }
  /** The class of each row. */
  className: string
  item(row: Row): ReactNode
}

export function List<Row extends { id: string }>({ rows, error, more, empty, className, item }: ListProps<Row>) {
  return (
    <>
      <ErrorMessage error={error} />
      {rows === undefined && !error && <Loading />}
      {rows?.length === 0 && <EmptyState title={empty.title}>{empty.help}</EmptyState>}
      <ul className="divide-y divide-line">
        {rows?.map(row => (
          <li key={row.id} className={`px-4 py-3.5 ${className}`}>
            {item(row)}
          </li>
        ))}
      </ul>
      <ShowMore more={more} />
    </>
  )
}
