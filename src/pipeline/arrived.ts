/** A request on its way through the pipeline: what is wanted, and, once it may pass, by whom and of whom. */
import type { Admitted } from '../admission/admission.ts'
import type { CacheControl } from '../cache/cache-control.ts'
import { hashRequest } from '../cache/canonical.ts'
import { createQuestion, type Question } from '../cache/question.ts'
import type { AdmitRow } from '../postgres/admit.ts'
import type { Provider } from '../providers/upstream.ts'
import type { Boarded } from './boarding.ts'
import type { EmbeddingsAsk } from './embeddings/read-ask.ts'
import type { ProxyRequest } from './exchange.ts'
import type { FailedAnswer } from './flight.ts'
import type { Ledger } from './ledger.ts'
import type { ParsedBody } from './read-request.ts'

/** A request that is well formed, before anybody has said that it may pass. */
export interface Wanted {
  parsed: ParsedBody
  canonicalBody: string
  control: CacheControl
  /** An embeddings request whose inputs are looked for one by one; null for all that is cached as a whole. */
  embeddings: EmbeddingsAsk | null
}

/** A request that may pass, with all that is known about it. */
export interface Arrived {
  request: ProxyRequest
  wanted: Wanted
  admitted: Admitted
  asked: Question
  /** The seat that it took while it was being counted. */
  boarded: Boarded | null
  provider: Provider
  ledger: Ledger
  /** Whether a failure is left to a fallback instead of being told. */
  givesWay(failed: FailedAnswer): boolean
}

/** What the request asks of the cache. */
export function toQuestion(
  { endpoint }: ProxyRequest,
  { parsed, canonicalBody, control }: Wanted,
  account: AdmitRow,
  { name, pricedAs }: Provider,
): Question {
  const { body, text: bodyText, model } = parsed
  // An aggregator may be called what a direct provider is called.
  const route = `${pricedAs ?? ''}/${name}`
  const identity = { namespace: control.namespace, endpoint, route, body, canonicalBody, bodyText }
  return createQuestion({ account, control, identity, requestHash: hashRequest(identity), model })
}
