/** Compares the texts of a pair as the proxy would: with one of its embedders, or by similarities that were recorded with the pairs. */

import { createBuiltinEmbedder } from '../../src/cache/embedders/builtin.ts'
import { openLocalEmbedder } from '../../src/cache/embedders/local/local.ts'
import { gistOf } from '../../src/cache/verify/gist.ts'
import { OWN_MODEL } from '../../src/config/embedder.ts'
import { createLog } from '../../src/telemetry/log.ts'
import type { LabelledPair } from './pairs.ts'

export const embedderNames = ['builtin', 'local', 'recorded'] as const

export interface Compare {
  /** Whether similarity tells meaning, not only wording. */
  readonly isSemantic: boolean
  /** The cosine of two normalized texts. Rejects when there is none. */
  compare(pair: LabelledPair, one: string, other: string): Promise<number>
  close(): Promise<void>
}

/** `recorded`: what an API's model said of the texts as they are; each pair needs a `similarity`. */
export async function openCompare(name: (typeof embedderNames)[number]): Promise<Compare> {
  if (name === 'recorded') return { isSemantic: true, compare: recorded, close: async () => {} }
  if (name === 'builtin') {
    const { embed, close } = createBuiltinEmbedder()
    const compare = async (_: LabelledPair, one: string, other: string) =>
      cosine(embed(gistOf(one)), embed(gistOf(other)))
    return { isSemantic: false, compare, close }
  }
  const embedder = await openLocalEmbedder(process.env.EMBEDDINGS_PATH ?? OWN_MODEL, createLog('error'))
  async function compare(_: LabelledPair, one: string, other: string): Promise<number> {
    const [ours, theirs] = [await embedder.embedLater(gistOf(one), ''), await embedder.embedLater(gistOf(other), '')]
    return ours && theirs ? cosine(ours, theirs) : 0
  }
  return { isSemantic: true, compare, close: embedder.close }
}

/** Of equal gists an embedder is asked once. */
async function recorded({ similarity, set }: LabelledPair, one: string, other: string): Promise<number> {
  if (similarity === undefined) throw new Error(`${set}: --embedder recorded needs a similarity with each pair`)
  return gistOf(one) === gistOf(other) ? 1 : similarity
}

function cosine(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0)
}
