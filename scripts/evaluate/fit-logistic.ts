/** Fits a logistic regression with L2 regularization by dual coordinate descent. Deterministic. */

export interface ExampleRow {
  /** Positions of features and their counts. */
  readonly features: Int32Array
  readonly counts: Float64Array
  readonly label: 1 | -1
  /** Multiplies the cost of an error. */
  readonly weight: number
}

const ROUNDS = 40
const NEWTON_STEPS = 20

/** Returns the weights of `size` features. A greater `cost` regularizes less. */
export function fitLogistic(rows: readonly ExampleRow[], size: number, cost: number): Float64Array {
  const weights = new Float64Array(size)
  const add = ({ features, counts }: ExampleRow, amount: number) => {
    for (let at = 0; at < features.length; at++) {
      const feature = features[at] ?? 0
      weights[feature] = (weights[feature] ?? 0) + amount * (counts[at] ?? 0)
    }
  }
  const duals = rows.map(row => {
    const start = Math.min(1e-3 * cost * row.weight, 1e-8)
    add(row, start * row.label)
    return start
  })
  const norms = rows.map(({ counts }) => counts.reduce((sum, count) => sum + count ** 2, 0))
  const order = [...rows.keys()]
  const random = createRandom()
  for (let round = 0; round < ROUNDS; round++) {
    shuffle(order, random)
    for (const at of order) {
      const [row, norm, dual] = [rows[at] as ExampleRow, norms[at] ?? 0, duals[at] ?? 0]
      const next = minimizeDual(dual, row.label * dotProduct(row, weights), norm, cost * row.weight)
      duals[at] = next
      add(row, (next - dual) * row.label)
    }
  }
  return weights
}

export function dotProduct(
  { features, counts }: Pick<ExampleRow, 'features' | 'counts'>,
  weights: Float64Array,
): number {
  let sum = 0
  for (let at = 0; at < features.length; at++) sum += (weights[features[at] ?? 0] ?? 0) * (counts[at] ?? 0)
  return sum
}

/** Newton's method in one dual variable, which stays between 0 and `cost`. */
function minimizeDual(dual: number, margin: number, norm: number, cost: number): number {
  let z = dual
  for (let step = 0; step < NEWTON_STEPS; step++) {
    const gradient = norm * (z - dual) + margin + Math.log(z / (cost - z))
    const next = z - gradient / (norm + cost / (z * (cost - z)))
    z = next <= 0 ? z / 10 : next >= cost ? cost - (cost - z) / 10 : next
  }
  return z
}

function createRandom(): () => number {
  let state = 1
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return state / 0x80000000
  }
}

function shuffle(order: number[], random: () => number): void {
  for (let at = order.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1))
    const [one = 0, two = 0] = [order[at], order[other]]
    order[at] = two
    order[other] = one
  }
}
