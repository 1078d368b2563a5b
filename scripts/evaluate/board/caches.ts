/** In-memory caches of one group of questions under each policy: which of the cached questions each would serve. */
import { topicWordsOf } from '../../../src/cache/text/topic-words.ts'
import { isPlainQuestion, type SemanticRisk } from '../../../src/cache/verify/verify.ts'
import { cosine } from '../compare.ts'
import { type ReadText, scoreTexts } from '../weigh.ts'
import { createNearest } from './nearest.ts'

/** A question with the vectors of its text and of its normalized text; null if it has none. */
export interface EmbeddedQuestion extends ReadText {
  readonly number: number
  readonly vector: Float32Array | null
  readonly normalizedVector: Float32Array | null
}

export interface GroupCache {
  /** The number of the question whose response is served; null for a miss. */
  find(asked: EmbeddedQuestion): number | null
  keep(asked: EmbeddedQuestion): void
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

/** The nearest candidates that the verifier scores. */
const MAX_SCORED = 5
/** Topic words of a question that are stored with it. A question is compared with those that have one of its own. */
const STORED_WORDS = 3

export function openVerified(threshold: number, risk: SemanticRisk, readsCosine: boolean): GroupCache {
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
    const similarities = [...candidatesFor(asked)].map(kept => {
      const [one, other] = [asked.normalizedVector, kept.normalizedVector]
      return { kept, similarity: one && other ? cosine(one, other) : 0 }
    })
    let [best, found]: [number, number | null] = [threshold, null]
    for (const { kept, similarity } of similarities.sort((a, b) => b.similarity - a.similarity).slice(0, MAX_SCORED)) {
      const score = scoreTexts(asked, kept, risk, readsCosine ? similarity : null)
      if (score > best) [best, found] = [score, kept.number]
    }
    return found
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
  const [normalized, nearest] = [openNormalized(), openNearest(threshold, ({ normalizedVector }) => normalizedVector)]
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
