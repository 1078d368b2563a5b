/** Pools the vectors of a text's tokens into one. */
import { normalizeLength } from '../lexical.ts'
import type { VectorRecipe } from './model-folder.ts'

/** A model's output: [1, tokens, dimensions], or [1, dimensions] when the model pools by itself. */
export interface ModelOutput {
  data: Float32Array
  dims: readonly number[]
}

/** Returns the unit vector. The sum of the tokens' vectors has the same direction as their mean. */
export function pool({ data, dims }: ModelOutput, pooling: VectorRecipe['pooling']): Float32Array {
  const dimensions = dims.at(-1) ?? 0
  const tokens = dims.length > 2 && pooling === 'mean' ? (dims[1] ?? 1) : 1
  const vector = data.slice(0, dimensions)
  for (let at = dimensions; at < tokens * dimensions; at += 1)
    vector[at % dimensions] = (vector[at % dimensions] ?? 0) + (data[at] ?? 0)
  if (vector.length === 0 || !vector.every(Number.isFinite)) throw new Error('The model gave no finite vector')
  return normalizeLength(vector)
}
