/** The learned models: gradient-boosted trees over a pair's numbers, in files that `scripts/evaluate/train.ts` writes. */
import { lazily, openPackedModel, type PackedModel } from '../text/packed-model.ts'
import { COSINE, type Features } from './compared-pair.ts'
import { type EditWeights, sumWeights } from './edits.ts'

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
  readonly edits: EditWeights
  /** The log odds of `careful`, `balanced` and `generous`. */
  readonly points: Readonly<Record<'careful' | 'balanced' | 'generous', number>>
  /** The embedding space whose cosine is one of the numbers; null for a model that reads words alone. */
  readonly space: string | null
}

/** A model of the words alone, and one that also reads the cosine of the sentence model that comes with the proxy. */
export const modelNames = ['words', 'cosine'] as const
export type ModelName = (typeof modelNames)[number]

/** The trees in one run of memory. A child below 0 is leaf -1 - child. */
interface CompiledTrees {
  readonly roots: readonly number[]
  /** The position of a node's number among a pair's numbers. */
  readonly column: Uint16Array
  readonly threshold: Float64Array
  readonly left: Int32Array
  readonly right: Int32Array
  readonly mean: Float64Array
  readonly leaf: Float64Array
}

const models: Readonly<Record<ModelName, PackedModel<Model>>> = {
  words: openPackedModel(new URL('./model.json.br', import.meta.url)),
  cosine: openPackedModel(new URL('./model-cosine.json.br', import.meta.url)),
}
const compiled: { [Name in ModelName]?: CompiledTrees } = {}

export const readModel = (name: ModelName): Model => models[name].read()

/** Identifies what is learned. Matches of other models are not reused. */
export const readModelsHash = (): string => modelNames.map(name => models[name].hash).join('+')

/** Returns the model that reads all numbers of the pair. */
export const modelFor = (features: Features): ModelName => (features.has(COSINE) ? 'cosine' : 'words')

const editWeights: Readonly<Record<ModelName, () => ReadonlyMap<string, number>>> = {
  words: lazily(() => new Map(Object.entries(readModel('words').edits))),
  cosine: lazily(() => new Map(Object.entries(readModel('cosine').edits))),
}

/** Returns what a pair's edits say, by the model that reads a cosine or the one that does not. */
export function weighEdits(edits: readonly string[], cosine: number | null): number {
  return sumWeights(edits, editWeights[cosine === null ? 'words' : 'cosine']())
}

function compiledFor(features: Features): CompiledTrees {
  const name = modelFor(features)
  compiled[name] ??= compile(readModel(name), features.names)
  return compiled[name]
}

function compile({ features, trees }: Model, names: readonly string[]): CompiledTrees {
  const columns = features.map(name => names.indexOf(name))
  if (columns.includes(-1)) throw new Error('the model uses a number that pairs do not have; train it again')
  const roots: number[] = []
  let [nodes, leaves] = [0, 0]
  const all = trees.map(tree => {
    const [node, leaf] = [nodes, leaves]
    roots.push(node)
    nodes += tree.feature.length
    leaves += tree.leaf.length
    return { tree, child: (at: number) => (at < 0 ? at - leaf : at + node) }
  })
  return {
    roots,
    column: Uint16Array.from(all.flatMap(({ tree }) => tree.feature.map(at => columns[at] ?? 0))),
    threshold: Float64Array.from(all.flatMap(({ tree }) => tree.threshold)),
    left: Int32Array.from(all.flatMap(({ tree, child }) => tree.left.map(child))),
    right: Int32Array.from(all.flatMap(({ tree, child }) => tree.right.map(child))),
    mean: Float64Array.from(all.flatMap(({ tree }) => tree.mean)),
    leaf: Float64Array.from(all.flatMap(({ tree }) => tree.leaf)),
  }
}

/** Returns the log odds that the pair asks the same. */
export function scoreFeatures(features: Features): number {
  const { roots, column, threshold, left, right, leaf } = compiledFor(features)
  const { values } = features
  let sum = 0
  for (let node of roots) {
    while (node >= 0)
      node = ((values[column[node] ?? 0] ?? 0) <= (threshold[node] ?? 0) ? left[node] : right[node]) ?? -1
    sum += leaf[-1 - node] ?? 0
  }
  return sum
}

/** Returns the numbers that spoke most against the pair, the strongest first, with what each took from the log odds. */
export function findStrongest(features: Features, count: number): readonly (readonly [name: string, effect: number])[] {
  const { roots, column, threshold, left, right, mean, leaf } = compiledFor(features)
  const { names, values } = features
  const effects = new Map<string, number>()
  for (let node of roots)
    while (node >= 0) {
      const at = column[node] ?? 0
      const child = ((values[at] ?? 0) <= (threshold[node] ?? 0) ? left[node] : right[node]) ?? -1
      const after = child < 0 ? (leaf[-1 - child] ?? 0) : (mean[child] ?? 0)
      const name = names[at] ?? ''
      effects.set(name, (effects.get(name) ?? 0) + after - (mean[node] ?? 0))
      node = child
    }
  return [...effects]
    .filter(([, effect]) => effect < 0)
    .sort(([, one], [, other]) => one - other)
    .slice(0, count)
}
