/** A share with its 95 % interval. */

/** Wilson's 95 % interval for `hits` of `total`. */
function wilson(hits: number, total: number): readonly [low: number, high: number] {
  if (total === 0) return [0, 1]
  const z = 1.96
  const share = hits / total
  const middle = share + z ** 2 / (2 * total)
  const spread = z * Math.sqrt((share * (1 - share)) / total + z ** 2 / (4 * total ** 2))
  const scale = 1 + z ** 2 / total
  return [Math.max(0, (middle - spread) / scale), Math.min(1, (middle + spread) / scale)]
}

/** Formats a share like "12 of 40, 30.0 % (18.1–45.4)". */
export function share(hits: number, total: number): string {
  const percent = (value: number) => (100 * value).toFixed(1)
  const [low, high] = wilson(hits, total)
  const of = `${hits} of ${total}`
  return total === 0 ? of : `${of}, ${percent(hits / total)} % (${percent(low)}–${percent(high)})`
}
