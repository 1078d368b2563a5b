/** Fits the weights of edits: a logistic regression over the names of a pair's edits. */
import { type EditWeights, sumWeights } from '../../src/cache/verify/edits.ts'
import { type ExampleRow, fitLogistic } from './fit-logistic.ts'
import { FOLDS, foldOf, type TrainingRow } from './training-rows.ts'

export interface EditedRow extends Pick<TrainingRow, 'label' | 'weight' | 'trained' | 'set'> {
  readonly edits: readonly string[]
}

/** An edit that fewer pairs have gets no weight. */
const MIN_PAIRS = 6
const COST = 0.25
const DIGITS = 2

/**
 * Returns the weights, and the sum of each row's. For a row that is trained on, the sum is by weights that were fitted without its fold, so that the
 * trees do not learn to trust them more than they deserve.
 */
export function fitEditWeights(
  rows: readonly EditedRow[],
  report: (line: string) => void,
): { weights: EditWeights; sums: readonly number[] } {
  const trained = rows.filter(row => row.trained !== 0)
  const counts = new Map<string, number>()
  for (const { edits } of trained) for (const edit of new Set(edits)) counts.set(edit, (counts.get(edit) ?? 0) + 1)
  // The first has no name: it is added to each pair.
  const names = ['', ...[...counts].flatMap(([name, count]) => (count >= MIN_PAIRS ? [name] : [])).sort()]
  const positions = new Map(names.map((name, at) => [name, at]))
  function fit(included: readonly EditedRow[]): ReadonlyMap<string, number> {
    const examples = included.map(row => exampleOf(row, positions))
    const weights = fitLogistic(examples, names.length, COST)
    const rounded = names.map((name, at) => [name, Number((weights[at] ?? 0).toFixed(DIGITS))] as const)
    return new Map(rounded.filter(([, weight]) => weight !== 0))
  }
  const all = fit(trained)
  const byFold = Array.from({ length: FOLDS }, (_, fold) => {
    report(`weights of edits: fold ${fold + 1} of ${FOLDS}`)
    return fit(trained.filter(row => foldOf(row) !== fold))
  })
  const sums = rows.map(row => sumWeights(row.edits, row.trained === 0 ? all : (byFold[foldOf(row)] ?? all)))
  report(`${all.size} weights of edits`)
  return { weights: Object.fromEntries(all), sums }
}

function exampleOf({ edits, label, weight }: EditedRow, positions: ReadonlyMap<string, number>): ExampleRow {
  const counts = new Map([[0, 1]])
  for (const edit of edits) {
    const at = positions.get(edit)
    if (at !== undefined) counts.set(at, (counts.get(at) ?? 0) + 1)
  }
  return {
    features: Int32Array.from(counts.keys()),
    counts: Float64Array.from(counts.values()),
    label: label === 1 ? 1 : -1,
    weight,
  }
}
