/** Compares bags: lists whose order does not count but whose repetitions do. */

/** Whether two lists hold the same strings equally often. */
export function sameBag(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && surplus(one, other).length === 0
}

/** What the first list has more of than the second. */
export function surplus(of: readonly string[], over: readonly string[]): string[] {
  if (of.length === 0) return []
  const left = new Map<string, number>()
  for (const item of over) left.set(item, (left.get(item) ?? 0) + 1)
  return of.filter(item => {
    const count = left.get(item) ?? 0
    if (count > 0) left.set(item, count - 1)
    return count === 0
  })
}
