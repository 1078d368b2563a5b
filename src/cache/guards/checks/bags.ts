/** Compares bags: lists whose order does not count but whose repetitions do. */

/** Whether two lists hold the same strings equally often. */
export function sameBag(one: readonly string[], other: readonly string[]): boolean {
  if (one.length !== other.length) return false
  if (one.length < 2) return one[0] === other[0]
  const sorted = [...other].sort()
  return [...one].sort().every((item, at) => item === sorted[at])
}

/** What the first list has more of than the second. */
export function surplus(of: readonly string[], over: readonly string[]): string[] {
  const left = [...over]
  return of.filter(item => {
    const at = left.indexOf(item)
    if (at !== -1) left.splice(at, 1)
    return at === -1
  })
}
