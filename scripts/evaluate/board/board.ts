/**
 * `--board`: measures which pairs each method would serve, correctly and wrongly, for each file of a directory, with the measures of
 * publications.
 */
import { basename } from 'node:path'
import type { Compare } from '../compare.ts'
import { pairFiles, readPairs } from '../pairs.ts'
import { weighPair } from '../weigh.ts'
import { methods } from './methods.ts'
import { createQuestions, type Questions } from './questions.ts'
import { readQuestions, runStream } from './stream.ts'
import { explanation, type Measured, setLines } from './table.ts'

export interface BoardOptions {
  readonly threshold: number
  /** Number of questions per set that are looked up as a stream. */
  readonly streamed: number
  /** Receives progress messages. */
  tell(progress: string): void
}

/** Rejects if a file does not contain pairs. */
export async function* boardLines(
  folder: string,
  embedders: readonly Compare[],
  options: BoardOptions,
): AsyncGenerator<string> {
  yield* explanation(options)
  for (const file of pairFiles(folder)) {
    for (const embedder of embedders) {
      const { measured, questions } = await measurePairs(file, embedder, options)
      await measureStream(measured, questions, embedder, options)
      yield* setLines(measured, options)
    }
  }
}

/** Stores numbers per pair, and each question once. */
async function measurePairs(file: string, embedder: Compare, { tell }: BoardOptions) {
  const name = `${basename(file)}, ${embedder.name}`
  const questions = createQuestions()
  const measured: Measured = {
    name,
    labels: [],
    byHand: [],
    categories: [],
    read: 0,
    methods: methods.map(method => ({ name: method.name, limits: [], similarities: [] })),
  }
  for (const pair of readPairs([file])) {
    const cosine = await embedder.compare(pair, pair.a, pair.b)
    const compared = { ...(await weighPair(pair, embedder)), cosine }
    measured.labels.push(pair.label)
    measured.byHand.push(pair.hand ?? pair.label)
    measured.categories.push(pair.category)
    if (pair.hand !== undefined) measured.read += 1
    for (const [at, method] of methods.entries()) {
      measured.methods[at]?.limits.push(method.limitOf(compared))
      measured.methods[at]?.similarities.push(method.similarityOf(compared))
    }
    questions.add(pair)
    tell(`${name}: ${measured.labels.length} pairs`)
  }
  return { measured, questions }
}

async function measureStream(
  measured: Measured,
  questions: Questions,
  { embed, isReadByVerifier }: Compare,
  { threshold, streamed, tell }: BoardOptions,
): Promise<void> {
  if (!embed) return
  const told = (done: number) => tell(`${measured.name}: ${done} questions`)
  const asked = await readQuestions(questions.first(streamed), embed, told)
  for (const [at, method] of methods.entries()) {
    const cache = method.openCache(threshold, isReadByVerifier)
    const into = measured.methods[at]
    if (into) into.stream = runStream(asked, cache, questions)
    tell(`${measured.name}: a stream of ${asked.length}, ${method.name}`)
  }
}
