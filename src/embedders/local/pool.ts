/** Pools the vectors of a text's tokens into one. */
import { normalizeLength } from '../lexical/hashed-vector.ts'
import type { VectorRecipe } from './model-folder.ts'

/** A model's output: [1, tokens, dimensions], or [1, dimensions] when the model pools by itself. */
export interface ModelOutput {
  data: Float32Array
  dims: readonly number[]
}

/** Returns the unit vector. */
export function pool(output: ModelOutput, pooling: VectorRecipe['pooling']): Float32Array {
  const vector = poolTokens(output, 0, hasTokens(output) && pooling === 'mean' ? (output.dims[1] ?? 1) : 1)
  if (vector.length === 0 || !vector.every(Number.isFinite)) throw new Error('The model gave no finite vector')
  return normalizeLength(vector)
}

/** The sum of the vectors of the tokens `from` to before `to`: it has the same direction as their mean. */
export function poolTokens({ data, dims }: ModelOutput, from: number, to: number): Float32Array {
  const dimensions = dims.at(-1) ?? 0
  const vector = data.slice(from * dimensions, (from + 1) * dimensions)
  for (let at = (from + 1) * dimensions; at < to * dimensions; at += 1)
    vector[at % dimensions] = (vector[at % dimensions] ?? 0) + (data[at] ?? 0)
  return vector
}

export function hasTokens({ dims }: ModelOutput): boolean {
  return dims.length > 2
}
