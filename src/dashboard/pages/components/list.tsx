/** A list whose rows are more than a table shows. */
import type { ReactNode } from 'react'
import type { usePaged } from '../paged.ts'
import { Empty, Loading, Problem } from './basics.tsx'
import { ShowMore } from './show-more.tsx'

interface ListProps<Row extends { id: string }> extends ReturnType<typeof usePaged<Row>> {
  empty: { title: string; help: ReactNode }
  /** Of a row. */
  className: string
  item(row: Row): ReactNode
}

export function List<Row extends { id: string }>({ rows, error, more, empty, className, item }: ListProps<Row>) {
  return (
    <>
      <Problem error={error} />
      {rows === undefined && !error && <Loading />}
      {rows?.length === 0 && <Empty title={empty.title}>{empty.help}</Empty>}
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
