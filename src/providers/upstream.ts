/** What every provider is to the pipeline: something that answers one request. */
import type { ProviderKind } from './forwarded-headers.ts'

export type Endpoint = 'chat' | 'completions' | 'embeddings' | 'responses' | 'messages'

export interface UpstreamRequest {
  endpoint: Endpoint
  /** The body as the client sent it; less or more than that only where the provider needs it. */
  bodyText: string
  /** The same, parsed. */
  body: Record<string, unknown>
  /** The client's own request headers. */
  headers: Headers
  stream: boolean
  /** Asks how many tokens the prompt has, and for no answer. Of Responses and Messages alone. */
  countsAlone?: boolean
  /** Aborted when nobody waits for the answer any more. */
  signal: AbortSignal
}

/** About something that a provider keeps. */
export interface StoredRequest {
  method: 'GET' | 'POST' | 'DELETE'
  /** Behind the base address, with a slash in front. */
  path: string
  /** With its question mark; empty for none. */
  query: string
  /** The client's own request headers. */
  headers: Headers
  signal: AbortSignal
}

export interface UpstreamAnswer {
  status: number
  /** Fit to be passed on: no hop-by-hop, no encoding, no length. */
  headers: Headers
  /** Reading it throws a ProxyError where upstream breaks off or falls silent. */
  body: ReadableStream<Uint8Array>
}

export interface Provider {
  /** For X-Proxy-Provider. */
  readonly name: string
  /** Which of the client's headers reach it, as forwardedHeaders has them; none where it is not set. */
  readonly kind?: ProviderKind
  /** Under which name the catalogue keeps its prices; null: it costs nothing. */
  readonly pricedAs: string | null
  /** Throws a ProxyError: 502 unreachable or broken, 504 timed out. */
  ask(request: UpstreamRequest): Promise<UpstreamAnswer>
  /** Where it keeps answers: asks for one, or about one. Throws as `ask` does. */
  askStored?(request: StoredRequest): Promise<UpstreamAnswer>
}
