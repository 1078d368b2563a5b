/**
 * A stream of questions: each is looked up among the earlier ones and stored if it is a miss. A hit is correct if the question of the
 * served response is equal, as vCache counts hits and errors (Schroeder et al., arXiv:2502.03771; `update_stats` in vcache-project/vCache,
 * benchmarks/benchmark.py, which compares the `id_set` of both).
 */
import type { Embed } from '../compare.ts'
import { readText } from '../weigh.ts'
import type { EmbeddedQuestion, GroupCache } from './caches.ts'
import type { Questions } from './questions.ts'

export interface StreamCounts {
  hits: number
  wrong: number
  /** Wrong hits, with a person's verdict in place of the label where there is one. */
  wrongByHand: number
  /** Wrong hits without a label of their own: nobody compared the two questions. */
  unlabelled: number
}

export function runStream(
  asked: Iterable<EmbeddedQuestion>,
  cache: GroupCache,
  { verdictOf }: Questions,
): StreamCounts {
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

/** Reads the texts in order. */
export async function readQuestions(
  texts: readonly string[],
  embed: Embed,
  tell: (done: number) => void,
): Promise<EmbeddedQuestion[]> {
  const asked: EmbeddedQuestion[] = []
  for (const [number, text] of texts.entries()) {
    const read = readText(text)
    const [vector, normalizedVector] = [await embed(text), await embed(read.reading.normalized)]
    asked.push({ ...read, number, vector, normalizedVector })
    tell(number + 1)
  }
  return asked
}
