/** Divides an upstream's total of tokens among the inputs of a batch. */

/**
 * Returns whole numbers in proportion to `counts` that add up to `total`. If our own counts add up to it, they are returned unchanged.
 * Tokens left over from rounding down go to the largest remainders.
 */
export function shareTokens(total: number, counts: readonly number[]): number[] {
  const sum = counts.reduce((all, count) => all + count, 0)
  if (sum === total) return [...counts]
  const exact = counts.map(count => (sum === 0 ? total / counts.length : (count * total) / sum))
  const shares = exact.map(Math.floor)
  const left = total - shares.reduce((all, share) => all + share, 0)
  const byRemainder = exact.map((share, at) => ({ at, remainder: share - Math.floor(share) }))
  byRemainder.sort((a, b) => b.remainder - a.remainder)
  for (const { at } of byRemainder.slice(0, left)) shares[at] = (shares[at] ?? 0) + 1
  return shares
}
