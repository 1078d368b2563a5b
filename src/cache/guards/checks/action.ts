/** Vetoes every request to do something: carrying it out once more is not the same as having carried it out. */
import type { Guard } from '../guard.ts'

export const action: Guard<'action'> = {
  name: 'action',
  differs: ({ asked, cached }) => asked.isAction || cached.isAction,
}
