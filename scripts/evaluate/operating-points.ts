/** Chooses the operating points of the verifier from the log odds of close pairs that its models were not trained on. */
import type { Model } from '../../src/cache/verify/trees.ts'

export interface ScoredPair {
  readonly label: 0 | 1
  readonly logOdds: number
  /** Whether a law forbids to serve the pair. */
  readonly isVetoed: boolean
}

/** The largest share of the authors' different pairs, most of which differ in a word or two, that may be served. */
export const bounds: Readonly<Record<keyof Model['points'], number>> = {
  careful: 0.001,
  balanced: 0.004,
  generous: 0.017,
}

export interface CurvePoint {
  readonly logOdds: number
  /** The shares of all same and of all different pairs that are served. */
  readonly same: number
  readonly different: number
  /** The share of the served pairs that are different, if both are equally frequent. */
  readonly wrong: number
}

/** Returns what is served from each pair's log odds on, the highest first. */
export function curveOf(pairs: readonly ScoredPair[]): CurvePoint[] {
  const all = [0, 1].map(label => pairs.filter(pair => pair.label === label).length)
  const served = [0, 0]
  return pairs
    .filter(({ isVetoed }) => !isVetoed)
    .sort((one, other) => other.logOdds - one.logOdds)
    .map(({ label, logOdds }) => {
      served[label] = (served[label] ?? 0) + 1
      const [different = 0, same = 0] = served.map((count, at) => count / Math.max(1, all[at] ?? 0))
      return { logOdds, same, different, wrong: different / (same + different) }
    })
}

/** Returns the lowest log odds within the bound of each risk. Throws if there are none. */
export function choosePoints(curve: readonly CurvePoint[]): Model['points'] {
  const choose = (bound: number) => {
    const found = curve.findLast(({ different }) => different <= bound)
    if (!found) throw new Error(`no log odds at which at most ${100 * bound} % of the different pairs are served`)
    return Number(found.logOdds.toFixed(4))
  }
  return { careful: choose(bounds.careful), balanced: choose(bounds.balanced), generous: choose(bounds.generous) }
}
