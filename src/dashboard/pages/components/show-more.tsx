/** The button that loads a list's next page. */
import type { usePaged } from '../paged.ts'
import { Button } from './basics.tsx'

export type More = ReturnType<typeof usePaged>['more']

export function ShowMore({ more }: { more: More }) {
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
