/** An embeddings request while its vectors are being gathered. */
import type { YieldTurn } from '../../event-loop/yield.ts'
import type { Input } from '../../vector-cache/vector-name.ts'
import type { CompletionQuery } from '../query.ts'
import type { RoutedContext, Stages } from '../request-context.ts'
import type { InputCounter } from './count-inputs.ts'

/** One input, and the name its vector is cached under. */
export interface NamedInput {
  name: string
  input: Input
}

export interface EmbeddingsJob {
  context: RoutedContext<CompletionQuery>
  /** In the request's order; repeated inputs repeat here. */
  inputs: readonly NamedInput[]
  counter: InputCounter
  yieldTurn: YieldTurn
  stages: Stages
}
