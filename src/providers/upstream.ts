/** The interface of providers to the pipeline: each answers one request. */
import type { DirectProvider } from '../config/config.ts'
import type { MemoryReservation } from '../event-loop/stream-memory.ts'
import type { MultipartForm } from '../formats/multipart-form.ts'
import type { PlainResponseAnalysis } from './analyze-response.ts'
import type { Credentials } from './credentials/credentials.ts'
import type { ChatResponseSource, ResponseStream } from './response-stream.ts'

/** Decides which vendor's documented headers apply. Every aggregator is assumed to know OpenRouter's. */
export type ProviderKind = DirectProvider | 'aggregator'

export type Endpoint = 'chat' | 'completions' | 'embeddings' | 'responses' | 'messages'

/** Prices up to which an aggregator may choose a host, in US dollars: for a million tokens, and for a request. */
export interface MaxPrice {
  prompt: number
  completion: number
  request: number
}

export interface UpstreamRequest {
  endpoint: Endpoint
  /** The body as the client sent it; changed only where the provider needs it. */
  bodyText: string
  /** The parsed body. For a long one that was rewritten, only its short fields. */
  body: Record<string, unknown>
  /** Only for a long body: its bytes. `bodyText` is then decoded on each access, which takes long. */
  bodyBytes?: Uint8Array
  /** The client's own request headers. */
  headers: Headers
  stream: boolean
  /** Only counts the prompt's tokens. For Responses and Messages. */
  isCountOnly?: boolean
  /** Sent to a provider that limits prices. */
  maxPrice?: MaxPrice | undefined
  /** Whether the project wants no tools left out that the provider cannot run. */
  rejectsUnsupportedTools?: boolean
  /** Whether its answer is translated from chat: then a plain one also says in which order its parts came. */
  isTranslated?: boolean
  /** Whether a prompt that is translated for Anthropic is marked for its cache. */
  addsCacheBreakpoints?: boolean
  /** Counts a long plain response as it is read. */
  responseMemory?: MemoryReservation | undefined
  /** The project that asks: work of one project beside the event loop does not keep another's waiting. */
  owner?: number
  /** Those of earlier attempts with other keys: the response is rid of them, too. */
  earlierCredentials?: readonly Credentials[]
  /** Aborted when the response is not needed any more. */
  signal: AbortSignal
  /** Whether its client has left, and the response is read only for its usage: it is not asked for again. */
  isClientDisconnected?: () => boolean
}

/** A body's fields, and the body as it came. */
export interface PassThroughBody {
  bytes: Uint8Array
  contentType: string
  /** For JSON, the object; for a form, its short values. */
  fields: Record<string, unknown>
  /** Null for JSON. */
  form: MultipartForm | null
}

/** A pass-through request. */
export interface PassThroughRequest {
  method: 'GET' | 'POST' | 'DELETE'
  /** After the base address, with a leading slash. */
  path: string
  /** Null for none. */
  body: PassThroughBody | null
  /** The client's own request headers. */
  headers: Headers
  /** Whether it may create something at the provider even if its response is lost: then it is not retried. */
  hasSideEffects: boolean
  /** Whether the response may have any size, because it is not held in memory. */
  isDownload: boolean
  /** As in UpstreamRequest. */
  earlierCredentials?: readonly Credentials[]
  signal: AbortSignal
}

/** A request about something that a provider keeps. */
export interface StorageRequest {
  method: 'GET' | 'POST' | 'DELETE'
  /** After the base address, with a leading slash. */
  path: string
  /** With its question mark; empty for none. */
  query: string
  /** The client's own request headers. */
  headers: Headers
  /** As in UpstreamRequest. */
  earlierCredentials?: readonly Credentials[]
  signal: AbortSignal
}

export interface RealtimeSessionRequest {
  /** Null for a session that only transcribes, by a model that is named in it. */
  model: string | null
  isTranscription: boolean
  /** The client's own request headers. */
  headers: Headers
}

/** Where a provider's Realtime API is reached, and the headers that open it, with its credential among them. */
export interface RealtimeAddress {
  url: string
  headers: Record<string, string>
  /** As in UpstreamResponse. */
  attemptedKeys?: readonly string[]
  /** What no message of the session may show. */
  credentials: Credentials
}

export interface UpstreamResponse {
  /** The provider's own: retries, circuits and fallbacks act on it. */
  status: number
  /** Of an error: the status for the client, where the meaning asks for another. */
  clientStatus?: number
  /** Ready to be passed on: no hop-by-hop headers, no encoding, no length. */
  headers: Headers
  /** Reading it throws a ProxyError when the upstream breaks off or stops sending. */
  body: ReadableStream<Uint8Array>
  /**
   * Whether it may be stored and shared: not where its `Cache-Control` says `no-store`, nor where it showed a credential, which was taken out
   * of it. Asked once the body has been read.
   */
  isStorable(): boolean
  /** The response of a completion, read whole. `body` is empty then. */
  plain?: PlainResponseAnalysis
  /** The same of a stream, read to its first part. */
  stream?: ResponseStream
  /** The chat response that a stream is translated from. */
  source?: ChatResponseSource
  /** Those that it has been rid of; none when nobody was called. */
  credentials?: Credentials
  /** `performance.now()` when its head came; when it is not set, as it is returned. */
  headersAtMs?: number
  /** How often the upstream was asked; once when it is not set. */
  attempts?: number
  /** Where the project has named keys: those that were asked, in order, each that was refused with the status. */
  attemptedKeys?: readonly string[]
}

export function isEventStream({ headers }: Pick<UpstreamResponse, 'headers'>): boolean {
  return headers.get('content-type')?.includes('text/event-stream') ?? false
}

export interface Provider {
  /** For X-Proxy-Provider. */
  readonly name: string
  /** Decides which of the client's headers reach it: see pickForwardedHeaders. None when it is not set. */
  readonly kind?: ProviderKind
  /** The provider's name in the catalogue's prices; null when it is free of charge. */
  readonly pricedAs: string | null
  /** Whether it chooses no host that asks more than a request's `maxPrice`. */
  readonly enforcesMaxPrice?: boolean
  /** Whether its vectors are 32-bit floats: asked for in base64, which is a quarter as long, they are the same numbers. */
  readonly hasFloatVectors?: boolean
  /** Operations besides chat that it supports natively; by default those of its vendor. */
  readonly nativeEndpoints?: readonly Endpoint[]
  /** Throws a ProxyError: 502 when unreachable or broken, 504 when it timed out. */
  send(request: UpstreamRequest): Promise<UpstreamResponse>
  /** Passes a request through. Throws as `ask` does, and a 404 for an operation that it lacks. */
  passThrough?(request: PassThroughRequest): Promise<UpstreamResponse>
  /** Where the project has named keys: the provider with the one of this name alone; with any of them if there is none. */
  withKey?(name: string): Provider
  /** Asks for a stored response, or about one; absent when it stores none. Throws as `ask` does. */
  sendStored?(request: StorageRequest): Promise<UpstreamResponse>
  /** Where a session with a model is opened; absent without a Realtime API. `headers` are the client's own. */
  resolveRealtime?(asked: RealtimeSessionRequest): Promise<RealtimeAddress>
}

/** Whether it keeps responses itself, under a key of the project's own. Those of any other are kept here. */
export function storesResponses({ sendStored, kind }: Pick<Provider, 'sendStored' | 'kind'>): boolean {
  return sendStored !== undefined && kind !== 'aggregator'
}

/** Sends the request. `earlier`: credentials of attempts before this one. */
export type SendAttempt = (earlier?: readonly Credentials[]) => Promise<UpstreamResponse>

/** The provider with `act` around each request for a model's answer. */
export function wrapProvider(
  provider: Provider,
  act: (ask: SendAttempt, request: UpstreamRequest | PassThroughRequest) => Promise<UpstreamResponse>,
): Provider {
  const { passThrough } = provider
  return {
    ...provider,
    send: request => act(earlier => provider.send(withEarlierCredentials(request, earlier)), request),
    ...(passThrough && {
      passThrough: (request: PassThroughRequest) =>
        act(earlier => passThrough(withEarlierCredentials(request, earlier)), request),
    }),
  }
}

/** The request of a further attempt. */
export function withEarlierCredentials<R extends Pick<UpstreamRequest, 'earlierCredentials'>>(
  request: R,
  earlier: readonly Credentials[] = [],
): R {
  return earlier.length === 0
    ? request
    : { ...request, earlierCredentials: [...(request.earlierCredentials ?? []), ...earlier] }
}
