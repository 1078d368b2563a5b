/** In-memory caches of one group of questions under each policy: which of the cached questions each would serve. */
import { topicWordsOf } from '../../../src/cache/text/topic-words.ts'
import { findVeto, isPlainQuestion, type SemanticRisk } from '../../../src/cache/verify/verify.ts'
import { cosine } from '../compare.ts'
import type { ReadText } from '../weigh.ts'
import { createNearest } from './nearest.ts'

/** A question with the vectors of its text and of its embedding text; null if it has none. */
export interface EmbeddedQuestion extends ReadText {
  readonly number: number
  readonly vector: Float32Array | null
  readonly gistVector: Float32Array | null
}

export interface GroupCache {
  /** The number of the question whose response is served; null for a miss. */
  find(asked: EmbeddedQuestion): number | null
  keep(asked: EmbeddedQuestion): void
}

export interface CacheOptions {
  readonly threshold: number
  readonly isSemantic: boolean
}

export function openProved(): GroupCache {
  const { find, keep } = openNormalized()
  return {
    find: asked => (asked.isBypassed ? null : find(asked)),
    keep(asked) {
      if (!asked.isBypassed) keep(asked)
    },
  }
}

/** Topic words of a question that are stored with it. A question is compared with those that have one of its own. */
const STORED_WORDS = 3

export function openVerified({ threshold, isSemantic }: CacheOptions, risk: SemanticRisk): GroupCache {
  const proved = openProved()
  const byWord = new Map<string, EmbeddedQuestion[]>()
  const isCompared = ({ reading, isBypassed }: EmbeddedQuestion) => !isBypassed && isPlainQuestion(reading)

  function candidatesFor(asked: EmbeddedQuestion): Iterable<EmbeddedQuestion> {
    const words = isCompared(asked) ? topicWordsOf(asked.reading.normalized) : []
    return new Set(words.flatMap(word => byWord.get(word) ?? []))
  }

  function keepByWord(asked: EmbeddedQuestion): void {
    const words = isCompared(asked) ? topicWordsOf(asked.reading.normalized) : []
    for (const word of words.slice(0, STORED_WORDS)) {
      const kept = byWord.get(word)
      if (kept) kept.push(asked)
      else byWord.set(word, [asked])
    }
  }

  function findSimilar(asked: EmbeddedQuestion): number | null {
    let [best, nearest]: [number, number | null] = [threshold, null]
    for (const kept of candidatesFor(asked)) {
      if (!asked.gistVector || !kept.gistVector) continue
      const similarity = cosine(asked.gistVector, kept.gistVector)
      if (similarity <= best || findVeto(asked.reading, kept.reading, { similarity, threshold, risk, isSemantic }))
        continue
      best = similarity
      nearest = kept.number
    }
    return nearest
  }
  return {
    find: asked => proved.find(asked) ?? findSimilar(asked),
    keep(asked) {
      proved.keep(asked)
      keepByWord(asked)
    },
  }
}

/** The policy `threshold` bypasses no question. */
export function openThreshold(threshold: number): GroupCache {
  const [normalized, nearest] = [openNormalized(), openNearest(threshold, ({ gistVector }) => gistVector)]
  return {
    find: asked => normalized.find(asked) ?? nearest.find(asked),
    keep(asked) {
      normalized.keep(asked)
      nearest.keep(asked)
    },
  }
}

export function openNearest(threshold: number, vectorOf: (asked: EmbeddedQuestion) => Float32Array | null): GroupCache {
  const nearest = createNearest()
  return {
    find(asked) {
      const vector = vectorOf(asked)
      return vector && nearest.find(vector, threshold)
    },
    keep(asked) {
      const vector = vectorOf(asked)
      if (vector) nearest.add(vector, asked.number)
    },
  }
}

function openNormalized(): GroupCache {
  const kept = new Map<string, number>()
  return {
    find: ({ reading }) => kept.get(reading.normalized) ?? null,
    keep: ({ reading, number }) => void kept.set(reading.normalized, number),
  }
}
