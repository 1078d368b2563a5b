/** What every provider is to the pipeline: something that answers one request. */
import type { Form } from '../multipart/read-form.ts'
import type { ProviderKind } from './forwarded-headers.ts'

export type Endpoint = 'chat' | 'completions' | 'embeddings' | 'responses' | 'messages'

export interface UpstreamRequest {
  endpoint: Endpoint
  /** The body as the client sent it; less or more than that only where the provider needs it. */
  bodyText: string
  /** The same, parsed. Of a long one that was rewritten, no more than its short fields. */
  body: Record<string, unknown>
  /** Of a long one alone: its bytes. `bodyText` is then made each time it is asked for, and takes long. */
  bodyBytes?: Uint8Array
  /** The client's own request headers. */
  headers: Headers
  stream: boolean
  /** Asks how many tokens the prompt has, and for no answer. Of Responses and Messages alone. */
  countsAlone?: boolean
  /** Aborted when nobody waits for the answer any more. */
  signal: AbortSignal
}

/** What a body says, and the body as it came. */
export interface PassedBody {
  bytes: Uint8Array
  contentType: string
  /** Of JSON, the object; of a form, its short values. */
  fields: Record<string, unknown>
  /** Null for JSON. */
  form: Form | null
}

/** A request that is passed on as it came, whatever it asks for. */
export interface PassedRequest {
  method: 'GET' | 'POST' | 'DELETE'
  /** Behind the base address, with a slash in front. */
  path: string
  /** Null for none. */
  body: PassedBody | null
  /** The client's own request headers. */
  headers: Headers
  /** Whether it may leave something behind even though its answer is lost: then it is not asked twice. */
  leavesTrace: boolean
  /** Whether the answer may be of any size, as it is not held anywhere. */
  isDownload: boolean
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
  /** Operations beside chat that it is asked for as they are; by default those of its vendor. */
  readonly has?: readonly Endpoint[]
  /** Throws a ProxyError: 502 unreachable or broken, 504 timed out. */
  ask(request: UpstreamRequest): Promise<UpstreamAnswer>
  /** Passes on what it has no form for here. Throws as `ask` does, and a 404 for an operation that it does not have. */
  pass?(request: PassedRequest): Promise<UpstreamAnswer>
  /** Where it keeps answers: asks for one, or about one. Throws as `ask` does. */
  askStored?(request: StoredRequest): Promise<UpstreamAnswer>
}
