/** The button that loads a list's next page. */
import type { usePagedList } from '../paged-list.ts'
import { Button } from './elements.tsx'

export type NextPage = ReturnType<typeof usePagedList>['more']

export function ShowMore({ more }: { more: NextPage }) {
  return (
    more && (
      <div className="border-t border-line p-3 text-center">
        <Button onClick={more.load} disabled={more.pending}>
          Show more
        </Button>
      </div>
    )
  )
}
