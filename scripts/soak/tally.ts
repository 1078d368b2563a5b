/** Counts what the actors did, and keeps short descriptions of errors. */

export interface Tally {
  readonly errors: number
  /** Counts a request of this kind that ended as expected. */
  count(kind: string): void
  fail(kind: string, error: unknown): void
  /** Requests so far, by kind. */
  describe(): string
  describeErrors(): string[]
}

const MAX_DESCRIBED = 20

export function createTally(): Tally {
  const counts = new Map<string, number>()
  const failures = new Map<string, number>()
  let errors = 0
  const add = (map: Map<string, number>, key: string) => map.set(key, (map.get(key) ?? 0) + 1)
  return {
    get errors() {
      return errors
    },
    count: kind => void add(counts, kind),
    fail(kind, error) {
      errors++
      add(failures, `${kind}: ${error instanceof Error ? error.message : String(error)}`)
    },
    describe() {
      const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
      return `${total} requests (${[...counts].map(([kind, count]) => `${kind} ${count}`).join(', ')})`
    },
    describeErrors: () => [...failures].slice(0, MAX_DESCRIBED).map(([what, count]) => `${count} times ${what}`),
  }
}
