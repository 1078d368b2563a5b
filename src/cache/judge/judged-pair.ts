/** What a verdict about two questions speaks of, besides the two: the difference between them. */
import type { Exchange } from '../../postgres/equivalences.ts'
import type { PromptReading } from '../../text/read-prompt.ts'
import { findExchange } from '../proof/exchange.ts'
import { prove } from '../proof/prove.ts'

export interface JudgedDifference {
  /** The kind that stood in the way of proof; null: none did. */
  difference: string | null
  /** The one exchange of words between them; null: there is none, or more. */
  exchange: Exchange | null
}

export function findDifference(asked: PromptReading, cached: PromptReading): JudgedDifference {
  const proof = prove(asked, cached)
  return { difference: proof.proved ? null : proof.kind, exchange: findExchange(asked, cached) }
}
