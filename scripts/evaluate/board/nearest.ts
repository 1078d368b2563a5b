/** Finds the exact nearest neighbour among many unit vectors. A comparison ends as soon as the cosine cannot exceed the best one. */

const BLOCK = 64

interface Held {
  readonly vector: Float32Array
  /** The length of the remaining vector after each block. The product of two of them is the upper bound of what remains of a cosine. */
  readonly rests: readonly number[]
  readonly number: number
}

export interface Nearest {
  add(vector: Float32Array, number: number): void
  /** The number of the first nearest vector, if its cosine exceeds the threshold; otherwise null. */
  find(vector: Float32Array, threshold: number): number | null
}

export function createNearest(): Nearest {
  const held: Held[] = []
  return {
    add(vector, number) {
      held.push({ vector, rests: restsOf(vector), number })
    },
    find(vector, threshold) {
      const rests = restsOf(vector)
      let [best, nearest]: [number, number | null] = [threshold, null]
      for (const each of held) {
        const similarity = cosineAbove(best, { vector, rests }, each)
        if (similarity > best) [best, nearest] = [similarity, each.number]
      }
      return nearest
    },
  }
}

/** The cosine if it exceeds `floor`; otherwise any number up to `floor`. */
function cosineAbove(floor: number, one: Pick<Held, 'vector' | 'rests'>, other: Held): number {
  let sum = 0
  for (let block = 0; block * BLOCK < one.vector.length; block += 1) {
    const end = Math.min(one.vector.length, (block + 1) * BLOCK)
    for (let at = block * BLOCK; at < end; at += 1) sum += (one.vector[at] as number) * (other.vector[at] as number)
    if (sum + (one.rests[block] as number) * (other.rests[block] as number) <= floor) return floor
  }
  return sum
}

function restsOf(vector: Float32Array): number[] {
  const rests: number[] = []
  let square = 0
  for (let block = Math.ceil(vector.length / BLOCK) - 1; block >= 0; block -= 1) {
    rests[block] = Math.sqrt(square)
    for (const value of vector.subarray(block * BLOCK, (block + 1) * BLOCK)) square += value ** 2
  }
  return rests
}
