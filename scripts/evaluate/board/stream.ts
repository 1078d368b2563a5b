/**
 * Questions that come one after another: each is looked up among those before it, and kept if it is a miss. A hit counts as right if the
 * question whose answer is served asks the same: as vCache counts hits and errors (Schroeder et al., arXiv:2502.03771; `update_stats` in
 * vcache-project/vCache, benchmarks/benchmark.py, which compares the `id_set` of both).
 */
import type { Embed } from '../compare.ts'
import { readText } from '../weigh.ts'
import type { Asked, GroupCache } from './caches.ts'
import type { Questions } from './questions.ts'

export interface StreamCounts {
  hits: number
  wrong: number
  /** The wrong ones, with what a person says in place of the label. */
  wrongByHand: number
  /** The wrong ones that no label says so of: nobody compared the two. */
  unlabelled: number
}

export function runStream(asked: Iterable<Asked>, cache: GroupCache, { verdictOf }: Questions): StreamCounts {
  const counts = { hits: 0, wrong: 0, wrongByHand: 0, unlabelled: 0 }
  for (const question of asked) {
    const found = cache.find(question)
    if (found === null) {
      cache.keep(question)
      continue
    }
    const { isSame, isSameByHand, isLabelled } = verdictOf(question.number, found)
    counts.hits += 1
    if (!isSame) counts.wrong += 1
    if (!isSameByHand) counts.wrongByHand += 1
    if (!isSame && !isLabelled) counts.unlabelled += 1
  }
  return counts
}

/** Reads the texts in their order. */
export async function readQuestions(
  texts: readonly string[],
  embed: Embed,
  tell: (done: number) => void,
): Promise<Asked[]> {
  const asked: Asked[] = []
  for (const [number, text] of texts.entries()) {
    const read = readText(text)
    asked.push({ ...read, number, vector: await embed(text), gistVector: await embed(read.gist) })
    tell(number + 1)
  }
  return asked
}
