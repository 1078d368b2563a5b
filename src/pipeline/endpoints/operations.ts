/** Selects the operation that reads a request and the operation that responds to it. */
import type { Operation } from '../context/request-context.ts'
import type { Query } from '../request/query.ts'
import type { PipelineTarget } from '../request/request.ts'
import { storedObjectOperation } from '../stored-objects/stored-objects.ts'
import { auxiliaryOperation } from './auxiliary.ts'
import { completionOperation } from './completions/completion.ts'
import { embeddingsOperation } from './embeddings/embeddings.ts'
import { passThroughOperation } from './pass-through/pass-through.ts'

const BY_TARGET: Record<PipelineTarget['kind'], Operation> = {
  // This includes embeddings: only the body tells whether they are processed input by input.
  endpoint: completionOperation,
  operation: passThroughOperation,
  stored_object: storedObjectOperation,
  count: auxiliaryOperation,
  cache: auxiliaryOperation,
}

const BY_QUERY: Record<Query['kind'], Operation> = {
  completion: completionOperation,
  pass_through: passThroughOperation,
  stored_object: storedObjectOperation,
  count: auxiliaryOperation,
  explain: auxiliaryOperation,
  feedback: auxiliaryOperation,
}

/** Returns the operation that reads the body. */
export function operationForTarget({ kind }: PipelineTarget): Operation {
  return BY_TARGET[kind]
}

/** Returns the operation that executes the request. */
export function operationForQuery(query: Query): Operation {
  return query.kind === 'completion' && query.embeddings ? embeddingsOperation : BY_QUERY[query.kind]
}
