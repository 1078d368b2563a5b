/** What accounting learns about a request: what it asks, and how it ended. */
import type { TokenUsage } from '../catalogue/cost.ts'
import type { Collection, Operation } from '../providers/operations.ts'
import type { Endpoint } from '../providers/upstream.ts'
import type { ProxyRequest } from './exchange.ts'
import type { RequestQuery } from './parse-request.ts'

export type AccountedRequest = Pick<ProxyRequest, 'id' | 'arrivedAtMs'>

export interface Outcome {
  status: number
  /** Whether the request counts against its month: an answered request does, one that failed here or upstream does not. */
  counts: boolean
  cacheResult: 'HIT' | 'HIT-SEMANTIC' | 'MISS' | null
  /** The provider that answered, or answered first when it was stored; null when none was reached. */
  provider: string | null
  /** The provider's name in the catalogue's prices; null when it costs nothing. */
  pricedAs: string | null
  /** The model that answered, if it may differ from the one asked for. */
  model?: string
  /** On a hit: the usage of the stored response. */
  usage: TokenUsage
  /** On a miss: prompt tokens of the inputs that were cached. */
  savedPromptTokens?: number
  /** Why the request failed; only logged. */
  cause?: unknown
}

/** What the request asks, as it is recorded. */
export interface NotedQuery extends Pick<RequestQuery, 'model' | 'stream' | 'body'> {
  endpoint: Endpoint | Operation | Collection
}
