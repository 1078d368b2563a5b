/** Reads the tables of this folder, which are written as words set apart by white space. */

/** The words of a table as a set. */
export function wordSet(table: string): ReadonlySet<string> {
  return new Set(table.split(/\s+/).filter(Boolean))
}

/** A table with one group of words a line: for each word, the numbers of the groups it is in. */
export function groupIndex(table: string): ReadonlyMap<string, readonly number[]> {
  const index = new Map<string, number[]>()
  for (const [group, line] of table.trim().split('\n').entries()) {
    for (const word of line.trim().split(/\s+/)) index.set(word, [...(index.get(word) ?? []), group])
  }
  return index
}

/** Whether two words stand in one group of the index. */
export function shareGroup(index: ReadonlyMap<string, readonly number[]>, one: string, other: string): boolean {
  const groups = index.get(other)
  return groups !== undefined && (index.get(one)?.some(group => groups.includes(group)) ?? false)
}

/** A table of rivals, one line each: words on different sides of a bar are rivals; without bars, every word is a side. */
export function rivalIndex(table: string): ReadonlyMap<string, ReadonlyMap<number, number>> {
  const index = new Map<string, Map<number, number>>()
  for (const [group, line] of table.trim().split('\n').entries()) {
    const sides = line.includes('|') ? line.split('|') : line.trim().split(/\s+/)
    for (const [side, words] of sides.entries()) {
      for (const word of wordSet(words)) index.set(word, (index.get(word) ?? new Map()).set(group, side))
    }
  }
  return index
}

/** Whether two words stand on different sides of one line. */
export function areRivals(
  index: ReadonlyMap<string, ReadonlyMap<number, number>>,
  one: string,
  other: string,
): boolean {
  const sides = index.get(other)
  if (sides === undefined) return false
  for (const [group, side] of index.get(one) ?? []) if (sides.has(group) && sides.get(group) !== side) return true
  return false
}
