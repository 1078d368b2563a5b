/** The operations that answer requests: which one reads a target's request, and which one answers it. */
import { completion } from './completion.ts'
import { embeddings } from './embeddings/answer-embeddings.ts'
import { keptObject } from './kept-objects/kept-objects.ts'
import { passed } from './pass-through/pass-through.ts'
import type { Query } from './query.ts'
import { question } from './questions.ts'
import type { PipelineTarget } from './request.ts'
import type { Operation } from './request-context.ts'

const BY_TARGET: Record<PipelineTarget['kind'], Operation> = {
  // Embeddings, too: only their body says whether they are answered input by input.
  endpoint: completion,
  operation: passed,
  kept: keptObject,
  response: keptObject,
  count: question,
  cache: question,
}

const BY_QUERY: Record<Query['kind'], Operation> = {
  completion,
  passed,
  kept: keptObject,
  response: keptObject,
  count: question,
  explain: question,
  feedback: question,
}

/** The operation that reads the body. */
export function readerOf({ kind }: PipelineTarget): Operation {
  return BY_TARGET[kind]
}

/** The operation that answers. */
export function operationOf(query: Query): Operation {
  return query.kind === 'completion' && query.embeddings ? embeddings : BY_QUERY[query.kind]
}
