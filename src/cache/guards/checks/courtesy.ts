/** Vetoes when one question is about a word of courtesy ("translate please into French") and the other is not. */
import type { Guard } from '../guard.ts'

export const courtesy: Guard<'courtesy'> = {
  name: 'courtesy',
  differs: ({ asked, cached }) => asked.courtesy !== cached.courtesy,
}
