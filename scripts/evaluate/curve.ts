/** The curve of served equal and different pairs over thresholds, by policy, risk, set and class. */

import type { SemanticRisk } from '../../src/cache/verify/verify.ts'
import type { LabelledPair } from './pairs.ts'
import { share } from './score.ts'
import { DEFAULT_THRESHOLD, risks, type WeighedPair } from './weigh.ts'

const thresholds = [0.8, 0.85, 0.9, 0.92, 0.95, 0.97, 0.99]

type IsServed<Pair = WeighedPair> = (pair: Pair) => boolean

const serves =
  (risk: SemanticRisk, threshold: number): IsServed =>
  pair =>
    pair.isNormalized || pair.scores[risk] > threshold
const byDefault = serves('balanced', DEFAULT_THRESHOLD)

export function curveLines(pairs: readonly WeighedPair[]): string[] {
  return [...Map.groupBy(pairs, ({ set }) => set)].flatMap(([set, rows]) => setLines(set, rows))
}

function setLines(set: string, pairs: readonly WeighedPair[]): string[] {
  const row = (name: string, isServed: IsServed) => rowLine(name, pairs, ({ label }) => label, isServed)
  return [
    ...headLines(set),
    row('proved', pair => pair.isNormalized),
    ...risks.flatMap(risk =>
      thresholds.map(threshold => row(`verified, ${risk} ${threshold}`, serves(risk, threshold))),
    ),
    ...thresholds.map(threshold =>
      row(`threshold ${threshold}`, pair => pair.isNormalized || pair.similarity > threshold),
    ),
    ...handLines(pairs),
    ...classLines(pairs, byDefault),
  ]
}

/** The number of served pairs, by class. */
export function servedLines<Pair extends LabelledPair>(
  name: string,
  pairs: readonly Pair[],
  isServed: IsServed<Pair>,
): string[] {
  return [...headLines(name), rowLine('all', pairs, ({ label }) => label, isServed), ...classLines(pairs, isServed)]
}

function headLines(title: string): string[] {
  return [`\n${title}`, `  ${''.padEnd(26)} ${'same, served'.padEnd(36)} different, served`]
}

function rowLine<Pair>(
  name: string,
  pairs: readonly Pair[],
  labelOf: (pair: Pair) => 0 | 1 | undefined,
  isServed: IsServed<Pair>,
): string {
  const count = (label: 0 | 1) => {
    const all = pairs.filter(pair => labelOf(pair) === label)
    return share(all.filter(isServed).length, all.length)
  }
  return `  ${name.padEnd(26)} ${count(1).padEnd(36)} ${count(0)}`
}

/** The pairs that a person read and the default settings serve: by label, and by the person's verdict. */
function handLines(pairs: readonly WeighedPair[]): string[] {
  const read = pairs.filter(({ hand }) => hand !== undefined)
  if (read.length === 0) return []
  const overruled = read.filter(({ hand, label }) => hand !== label).length
  return [
    `  ${read.length} pairs were read by hand, and ${overruled} labels overruled; of these, served by default:`,
    rowLine('by label', read, ({ label }) => label, byDefault),
    rowLine('by hand', read, ({ hand }) => hand, byDefault),
  ]
}

function classLines<Pair extends LabelledPair>(pairs: readonly Pair[], isServed: IsServed<Pair>): string[] {
  const byClass = [...Map.groupBy(pairs, ({ category }) => category)]
  if (byClass.length < 2) return []
  return byClass.map(([name, rows]) => {
    const served = rows.filter(isServed)
    const right = served.filter(({ label }) => label === 1).length
    return `    ${name.padEnd(24)} ${right} same and ${served.length - right} different of ${rows.length}`
  })
}
