/** What accounting is told of a request: what it asks, and how it ended. */
import type { TokenUsage } from '../catalogue/cost.ts'
import type { Collection, Operation } from '../providers/operations.ts'
import type { Endpoint } from '../providers/upstream.ts'
import type { ProxyRequest } from './exchange.ts'
import type { RequestQuery } from './parse-request.ts'

export type AccountedRequest = Pick<ProxyRequest, 'id' | 'arrivedAtMs'>

export interface Outcome {
  status: number
  /** Whether the request counts against its month: what was answered does, what failed here or upstream does not. */
  counts: boolean
  cacheResult: 'HIT' | 'HIT-SEMANTIC' | 'MISS' | null
  /** Who answered, or first answered; null where none was reached. */
  provider: string | null
  /** Under which name the catalogue prices it; null: it costs nothing. */
  pricedAs: string | null
  /** The model that answered, where it may be another than was asked for. */
  model?: string
  /** On a hit: what the stored response once used. */
  usage: TokenUsage
  /** On a miss: prompt tokens of the parts that were known. */
  savedPromptTokens?: number
  /** Why it failed; for the log alone. */
  cause?: unknown
}

/** What is asked, as it is recorded. */
export interface NotedQuery extends Pick<RequestQuery, 'model' | 'stream' | 'body'> {
  endpoint: Endpoint | Operation | Collection
}
