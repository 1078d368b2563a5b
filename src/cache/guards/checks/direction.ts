/** Vetoes when two questions go opposite ways: from Paris to London, from London to Paris. */
import type { Guard, GuardFeatures } from '../guard.ts'
import type { Token } from '../reading/token.ts'

interface Ends {
  /** What stands after "from". */
  from: Set<string>
  /** What stands after "to". */
  to: Set<string>
  /** What stands after "from" or before "to". */
  sources: Set<string>
}

export const direction: Guard<'direction'> = {
  name: 'direction',
  differs: ({ asked, cached }) => {
    const [here, there] = [endsOf(asked), endsOf(cached)]
    return (
      (turns(here.sources, here, there) && turns(there.sources, there, here)) ||
      turns(here.from, here, there) ||
      turns(there.from, there, here)
    )
  },
}

/** Whether one of the starts is where the other question ends. */
function turns(starts: ReadonlySet<string>, own: Ends, other: Ends): boolean {
  return [...starts].some(key => !own.to.has(key) && other.to.has(key) && !other.sources.has(key))
}

function endsOf({ tokens }: GuardFeatures): Ends {
  const ends: Ends = { from: new Set(), to: new Set(), sources: new Set() }
  for (const [at, token] of tokens.entries()) {
    const after = nextThing(tokens, at)
    if (after === undefined) continue
    if (token.key === 'from') {
      ends.from.add(after.key)
      ends.sources.add(after.key)
    } else if (token.key === 'to' || token.key === 'into') {
      const before = tokens[at - 1]
      ends.to.add(after.key)
      if (before !== undefined && before.weight !== 'function') ends.sources.add(before.key)
    }
  }
  return ends
}

function nextThing(tokens: readonly Token[], at: number): Token | undefined {
  return tokens.slice(at + 1, at + 4).find(token => token.weight !== 'function')
}
