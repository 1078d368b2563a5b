/** What a verdict about two questions is about besides the two: the difference between them. */
import type { Exchange } from '../../postgres/equivalences.ts'
import type { PromptReading } from '../../text/read-prompt.ts'
import { findExchange } from '../proof/exchange.ts'
import { prove } from '../proof/prove.ts'

export interface JudgedDifference {
  /** The kind of difference that prevented proof; null when nothing did. */
  difference: string | null
  /** The one exchange of words between them; null when there is none, or more than one. */
  exchange: Exchange | null
}

export function findDifference(asked: PromptReading, cached: PromptReading): JudgedDifference {
  const proof = prove(asked, cached)
  return { difference: proof.proved ? null : proof.kind, exchange: findExchange(asked, cached) }
}
