/** The learned model: gradient-boosted trees over a pair's numbers, in a file that `scripts/evaluate/train.ts` writes. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import type { Features } from './pair-features.ts'

/** One tree. Its inner nodes are numbered from 0; a negative child -1 - k is leaf k. */
export interface Tree {
  /** The position in `features` that a node compares. */
  readonly feature: readonly number[]
  /** A value at most this goes left. */
  readonly threshold: readonly number[]
  readonly left: readonly number[]
  readonly right: readonly number[]
  /** The mean of the leaves below a node, by which a step's effect is told. */
  readonly mean: readonly number[]
  /** What a leaf adds to the log odds. */
  readonly leaf: readonly number[]
}

export interface Model {
  /** The names of the numbers, in the order in which the trees refer to them. */
  readonly features: readonly string[]
  readonly trees: readonly Tree[]
  /** The log odds of `careful`, `balanced` and `generous`. */
  readonly points: Readonly<Record<'careful' | 'balanced' | 'generous', number>>
}

let loaded: { model: Model; hash: string } | undefined

function load(): { model: Model; hash: string } {
  const packed = readFileSync(new URL('./model.json.br', import.meta.url))
  const hash = createHash('sha256').update(packed).digest('hex').slice(0, 12)
  loaded = { model: JSON.parse(brotliDecompressSync(packed).toString()) as Model, hash }
  return loaded
}

/** Returns the model, loaded at the first use. */
export const readModel = (): Model => (loaded ?? load()).model

/** Identifies the model. Matches of another model are not reused. */
export const readModelHash = (): string => (loaded ?? load()).hash

/** Returns the log odds that the pair asks the same. */
export function scoreFeatures(features: Features): number {
  const model = readModel()
  const values = valuesOf(model, features)
  return model.trees.reduce((sum, tree) => sum + (tree.leaf[-1 - walk(tree, values)] ?? 0), 0)
}

/** Returns the numbers that spoke most against the pair, the strongest first, with what each took from the log odds. */
export function findStrongest(features: Features, count: number): readonly (readonly [name: string, effect: number])[] {
  const model = readModel()
  const values = valuesOf(model, features)
  const effects = new Map<string, number>()
  for (const tree of model.trees) {
    walk(tree, values, (node, child) => {
      const after = child < 0 ? (tree.leaf[-1 - child] ?? 0) : (tree.mean[child] ?? 0)
      const name = model.features[tree.feature[node] ?? 0] ?? ''
      effects.set(name, (effects.get(name) ?? 0) + after - (tree.mean[node] ?? 0))
    })
  }
  return [...effects]
    .filter(([, effect]) => effect < 0)
    .sort(([, one], [, other]) => one - other)
    .slice(0, count)
}

function valuesOf(model: Model, features: Features): readonly number[] {
  // The trees were fitted to single precision.
  return model.features.map(name => Math.fround(features.get(name) ?? 0))
}

/** Walks from the root to a leaf, and returns it as a negative child. */
function walk(tree: Tree, values: readonly number[], step?: (node: number, child: number) => void): number {
  let node = 0
  while (node >= 0) {
    const goesLeft = (values[tree.feature[node] ?? 0] ?? 0) <= (tree.threshold[node] ?? 0)
    const child = (goesLeft ? tree.left[node] : tree.right[node]) ?? -1
    step?.(node, child)
    node = child
  }
  return node
}
