/** Finds names with a similar spelling. */

/** The largest number of names returned. */
const MAX_SHOWN = 5
/** The share of the letters that may differ. */
const MAX_SHARE = 0.4
/** Longer names are not compared. */
const MAX_LENGTH = 100

/**
 * Returns the similar names, most similar first; empty when none is similar. The vendor prefix of a name is compared only when the requested
 * name has one. `limit` is the number of letters that may differ, by default a share of them.
 */
export function findSimilarNames(
  requested: string,
  names: readonly string[],
  limit = Math.max(2, Math.floor(requested.length * MAX_SHARE)),
): string[] {
  if (requested.length > MAX_LENGTH) return []
  const target = requested.toLowerCase()
  const candidates = [...new Set(names)].map(name => {
    const compared = target.includes('/') ? name : name.slice(name.indexOf('/') + 1)
    return { name, distance: editDistance(target, compared.toLowerCase(), limit) }
  })
  return candidates
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, MAX_SHOWN)
    .map(({ name }) => name)
}

/**
 * Returns the number of letters to add, remove, replace or swap with their neighbour (optimal string alignment). When it exceeds `limit`, the
 * result is any number above `limit`.
 */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwap ? at(before, j - 2) + 1 : replaced
      row.push(Math.min(at(last, j) + 1, at(row, j - 1) + 1, replaced, swapped))
    }
    before = last
    last = row
  }
  return at(last, b.length)
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? 0
}
