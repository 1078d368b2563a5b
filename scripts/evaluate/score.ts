/** Statistics of served pairs, with 95 % intervals. */
import type { LabelledPair } from './pairs.ts'

export interface Outcome extends LabelledPair {
  isServed: boolean
}

/** Wilson's interval for `hits` of `total` at 95 %. */
export function wilson(hits: number, total: number): readonly [low: number, high: number] {
  if (total === 0) return [0, 1]
  const z = 1.96
  const share = hits / total
  const middle = share + z ** 2 / (2 * total)
  const spread = z * Math.sqrt((share * (1 - share)) / total + z ** 2 / (4 * total ** 2))
  const scale = 1 + z ** 2 / total
  return [Math.max(0, (middle - spread) / scale), Math.min(1, (middle + spread) / scale)]
}

/** "12 of 40, 30.0 % (18.1–45.4)". */
export function share(hits: number, total: number): string {
  const percent = (value: number) => (100 * value).toFixed(1)
  const [low, high] = wilson(hits, total)
  const of = `${hits} of ${total}`
  return total === 0 ? of : `${of}, ${percent(hits / total)} % (${percent(low)}–${percent(high)})`
}

export function scoreLines(policy: string, outcomes: readonly Outcome[]): string[] {
  const served = outcomes.filter(({ isServed }) => isServed)
  const right = served.filter(({ label }) => label === 1).length
  const same = outcomes.filter(({ label }) => label === 1).length
  const wrong = served.length - right
  return [
    `\n${policy}`,
    `  precision            ${share(right, served.length)}`,
    `  hit ratio            ${share(right, same)}`,
    `  different, served    ${share(wrong, outcomes.length - same)}`,
    ...falseHits(outcomes),
  ]
}

function falseHits(outcomes: readonly Outcome[]): string[] {
  const byCategory = Map.groupBy(
    outcomes.filter(({ label }) => label === 0),
    ({ category }) => category,
  )
  return [...byCategory].flatMap(([category, rows]) => {
    const wrong = rows.filter(({ isServed }) => isServed).length
    return wrong === 0 ? [] : [`    ${category.padEnd(18)} ${share(wrong, rows.length)}`]
  })
}
