/** Compares the texts of a pair as the proxy does: with one of its embedders, or by similarities that were recorded with the pairs. */

import { createBuiltinEmbedder } from '../../src/cache/embedders/builtin-embedder.ts'
import { createLocalEmbedder } from '../../src/cache/embedders/local/local-embedder.ts'
import { readModel } from '../../src/cache/verify/trees.ts'
import { BUNDLED_MODEL_PATH } from '../../src/config/embedder.ts'
import { createLog } from '../../src/telemetry/log.ts'
import type { LabelledPair } from './pairs.ts'

export const embedderNames = ['builtin', 'local', 'recorded'] as const

/** Returns the unit vector of a text; null if it has none. */
export type Embed = (text: string) => Promise<Float32Array | null>

export interface Compare {
  readonly name: (typeof embedderNames)[number]
  /** Returns the cosine of two texts, the pair's own or derived ones. Rejects if there is none. */
  compare(pair: LabelledPair, one: string, other: string): Promise<number>
  /** Whether the verifier has learned from cosines of the embedder. */
  readonly isReadByVerifier: boolean
  /** Null if only pairs have a similarity. */
  readonly embed: Embed | null
  close(): Promise<void>
}

/** Throws if the embedder is unknown. `recorded` uses each pair's `similarity`, measured by an API's model on the unchanged texts. */
export async function openCompare(wanted: string): Promise<Compare> {
  const name = embedderNames.find(each => each === wanted)
  if (!name) throw new Error(`--embedder must be one of ${embedderNames.join(', ')}`)
  if (name === 'recorded')
    return { name, isReadByVerifier: false, compare: recorded, embed: null, close: async () => {} }
  if (name === 'builtin') {
    const { embed, close } = createBuiltinEmbedder()
    return { name, isReadByVerifier: false, ...comparing(async text => embed(text)), close }
  }
  const { space, embedInBackground, close } = await createLocalEmbedder(
    process.env.EMBEDDINGS_PATH ?? BUNDLED_MODEL_PATH,
    createLog('error'),
  )
  const isReadByVerifier = space.model === readModel('cosine').space
  return { name, isReadByVerifier, ...comparing(text => embedInBackground(text, '')), close }
}

function comparing(embed: Embed): Pick<Compare, 'compare'> & { embed: Embed } {
  async function compare(_: LabelledPair, one: string, other: string): Promise<number> {
    const [ours, theirs] = [await embed(one), await embed(other)]
    return ours && theirs ? cosine(ours, theirs) : 0
  }
  return { compare, embed }
}

/** Equal texts are embedded once. */
async function recorded({ similarity, set }: LabelledPair, one: string, other: string): Promise<number> {
  if (similarity === undefined) throw new Error(`${set}: --embedder recorded needs a similarity with each pair`)
  return one === other ? 1 : similarity
}

export function cosine(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0)
}
