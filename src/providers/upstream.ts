/** The interface between the pipeline and providers: requests, responses, and the provider itself. */
import type { MemoryReservation } from '../event-loop/stream-memory.ts'
import type { StoredTurn } from '../formats/chat/complete-turns.ts'
import type { NewTurn, ToolTurn } from '../formats/chat/tool-turns.ts'
import type { Endpoint } from '../formats/endpoint.ts'
import type { JsonObject } from '../formats/json/canonical.ts'
import type { MultipartForm } from '../formats/multipart-form.ts'
import type { PlainResponseAnalysis } from './analyze-response.ts'
import type { Credentials } from './credentials/credentials.ts'
import type { FailureKind } from './failure-kind.ts'
import type { ResponseStream, StreamSource } from './response-stream.ts'
import type { TimeLimits } from './time-limits.ts'

/** The highest prices at which an aggregator may choose a host, in US dollars: per million tokens, and per request. */
export interface MaxPrice {
  prompt: number
  completion: number
  request: number
}

/** Stores the provider extras of the caller's turns. */
export interface TurnStore {
  /** Returns the turns that are stored for the caller. Never throws. */
  find(turns: readonly ToolTurn[]): Promise<readonly StoredTurn[]>
  /** Stores a turn in the background. `madeBy` is the provider and model that created it. A turn that becomes null is not stored. */
  store(turn: Promise<NewTurn | null>, madeBy: string): void
}

export interface UpstreamRequest {
  endpoint: Endpoint
  /** The body's text as the client sent it, changed only where the provider requires it. */
  bodyText: string
  /** The parsed body. A long body that was rewritten has only its short fields here. */
  body: Record<string, unknown>
  /** The bytes of a long body; absent for a short one. `bodyText` is then decoded on each access, which is slow. */
  bodyBytes?: Uint8Array
  /** The client's own request headers. */
  headers: Headers
  stream: boolean
  /** Whether the request only counts the prompt's tokens. Only Responses and Messages support it. */
  isCountOnly?: boolean
  /** The price limit that is sent to a provider with `enforcesMaxPrice`. */
  maxPrice?: MaxPrice | undefined
  /** Whether a request with tools that the provider cannot run is rejected. By default such tools are omitted. */
  rejectsUnsupportedTools?: boolean
  /** Whether the response is translated from chat. A plain response then also contains the order of its parts. */
  isTranslated?: boolean
  /** Whether cache breakpoints are added to a prompt that is translated for Anthropic. */
  addsCacheBreakpoints?: boolean
  /** Time limits of this request, below those of the process; none by default. */
  timeLimits?: TimeLimits | undefined
  /** The memory reservation to which a long plain response is added while it is read. */
  responseMemory?: MemoryReservation | undefined
  /** The id of the project that owns the request's worker jobs, so that one project's jobs do not delay another's. */
  owner?: number
  /**
   * How an open circuit is tried. By default, the request itself is the trial when one is due. beside: a fallback is called at once, and the
   * failure says whether a trial is due. itself: the request is that trial.
   */
  trial?: 'beside' | 'itself' | undefined
  /** Credentials of earlier attempts with other keys. They are redacted in the response, too. */
  earlierCredentials?: readonly Credentials[]
  /** Called with the outcome of each attempt. */
  recordAttempt?: RecordAttempt
  /** Stores what clients may omit from their next request. Absent for requests of the proxy itself. */
  turns?: TurnStore
  /** The signal is aborted when the response is no longer needed. */
  signal: AbortSignal
  /** Returns whether the client has disconnected. The response is then read only for its usage, and the request is not retried. */
  isClientDisconnected?: () => boolean
}

/** The body of a pass-through request: its bytes as received, and its fields. */
export interface PassThroughBody {
  bytes: Uint8Array
  contentType: string
  /** The object of a JSON body, or the short values of a form. */
  fields: Record<string, unknown>
  /** The parsed form; null for JSON. */
  form: MultipartForm | null
}

export interface PassThroughRequest extends Pick<UpstreamRequest, 'headers' | 'earlierCredentials' | 'signal'> {
  method: 'GET' | 'POST' | 'DELETE'
  /** The path after the base address, with a leading slash. */
  path: string
  /** The body; null for none. */
  body: PassThroughBody | null
  /** Whether the request may create an object at the provider even if its response is lost. Such a request is not retried. */
  hasSideEffects: boolean
  /** Whether the response may have any size, because it is not held in memory. */
  isDownload: boolean
  recordAttempt?: RecordAttempt | undefined
}

/** A request about an object that a provider stores. */
export interface StorageRequest extends Omit<PassThroughRequest, 'body' | 'hasSideEffects' | 'isDownload'> {
  /** The query string with its question mark; empty for none. */
  query: string
}

export interface RealtimeSessionRequest {
  /** The model; null for a session that only transcribes, which names its model in a message. */
  model: string | null
  isTranscription: boolean
  /** The client's own request headers. */
  headers: Headers
}

/** The address of a provider's Realtime API, and the headers that open a session. They include the credential. */
export interface RealtimeAddress {
  url: string
  headers: Record<string, string>
  /** The name of the provider key, where the project has named keys. */
  key?: string
  /** The credentials that must be redacted in the session's messages. */
  credentials: Credentials
}

export interface UpstreamResponse {
  /** The provider's status, on which retries, circuits and fallbacks act. */
  status: number
  /** The status of an error for the client, where it differs from the provider's. */
  clientStatus?: number
  /** Headers that can be forwarded: no hop-by-hop headers, no encoding, no length. */
  headers: Headers
  /** Reading it throws a ProxyError when the upstream breaks off or stops sending. */
  body: ReadableStream<Uint8Array>
  /**
   * Returns whether the response may be stored and shared. It may not when its `Cache-Control` is `no-store`, or when a credential was redacted
   * in it. Call it after the body has been read.
   */
  isStorable(): boolean
  /** The analysis of a plain response to a model request, which was read to its end. `body` is then empty. */
  plain?: PlainResponseAnalysis
  /** The stream of a response to a model request, which was read to its first part. `body` is then empty. */
  stream?: ResponseStream
  /** The provider's response that a stream is translated from. */
  source?: StreamSource
  /** Stores messages of the response that have both tool calls and provider extras; absent when there is no chat response. */
  storeTurns?: (messages: readonly JsonObject[]) => void
  /** The credentials that were redacted in the response; absent when no upstream was called. */
  credentials?: Credentials
  /** `performance.now()` when the response headers arrived. When it is not set, they arrived when the response was returned. */
  headersAtMs?: number
}

/** The outcome of an attempt: a status, or a failure. */
export interface AttemptOutcome {
  provider: string
  key: string | null
  /** `performance.now()` when the attempt began. */
  startedAtMs: number
  status: number | null
  failure: (Error & { failureKind: FailureKind }) | null
}

export type RecordAttempt = (outcome: AttemptOutcome) => void

export function isEventStream({ headers }: Pick<UpstreamResponse, 'headers'>): boolean {
  return headers.get('content-type')?.includes('text/event-stream') ?? false
}

export interface Provider {
  /** The provider's name in the header X-Proxy-Provider. */
  readonly name: string
  /** A vendor, or `aggregator`; absent for the sandbox. */
  readonly kind?: string
  /** Whether projects share its key, or it has none. A project must not refer there to what it did not create. */
  readonly isShared?: boolean
  /** The client's headers that are forwarded, by lower-case names, sorted. */
  readonly clientHeaders?: readonly string[]
  /** The provider's name in the catalogue's prices; null when it is free of charge. */
  readonly pricedAs: string | null
  /** Whether models without a price are free of charge: the vendor is a server of the operator's own, which needs no key. */
  readonly isFreeWithoutPrice?: boolean
  /** The provider's own name for the requested model; absent where it is the client's. */
  readonly modelName?: string
  /** Whether the provider chooses no host with a price above a request's `maxPrice`. */
  readonly enforcesMaxPrice?: boolean
  /** Whether the provider's vectors are 32-bit floats. In base64, which is a quarter as long, they are then the same numbers. */
  readonly hasFloatVectors?: boolean
  /** Endpoints besides chat that the provider supports natively; by default those of its vendor. */
  readonly nativeEndpoints?: readonly Endpoint[]
  /** Sends a model request. Throws a ProxyError: 502 when the provider is unreachable or its response is broken, 504 after a timeout. */
  send(request: UpstreamRequest): Promise<UpstreamResponse>
  /** Forwards a pass-through request. Throws as `send` does, and a 404 for an operation that the provider lacks. */
  passThrough?(request: PassThroughRequest): Promise<UpstreamResponse>
  /** Returns the names in the provider's own list of models. Throws as `send` does. Absent without a list. */
  listModels?(): Promise<string[]>
  /** Returns the provider with the key of this name alone, or with all keys if none has the name. Absent without named keys. */
  withKey?(name: string): Provider
  /** Sends a request about a stored object. Absent when the provider stores none. Throws as `send` does. */
  sendStored?(request: StorageRequest): Promise<UpstreamResponse>
  /** Returns the address that opens a realtime session. Absent without a Realtime API. */
  resolveRealtime?(request: RealtimeSessionRequest): Promise<RealtimeAddress>
}

/** Returns whether the provider stores responses itself, under the project's own key. The proxy stores those of all other providers. */
export function storesResponses({ sendStored, isShared }: Pick<Provider, 'sendStored' | 'isShared'>): boolean {
  return sendStored !== undefined && !isShared
}

/** Sends the request. `earlier` are the credentials of attempts before this one. */
export type SendAttempt = (earlier?: readonly Credentials[]) => Promise<UpstreamResponse>

/** Returns the provider with `act` around each model request and each pass-through request. */
export function wrapProvider(
  provider: Provider,
  act: (send: SendAttempt, request: UpstreamRequest | PassThroughRequest) => Promise<UpstreamResponse>,
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

/** Returns the request of a further attempt, with the credentials of earlier attempts. */
export function withEarlierCredentials<R extends Pick<UpstreamRequest, 'earlierCredentials'>>(
  request: R,
  earlier: readonly Credentials[] = [],
): R {
  return earlier.length === 0
    ? request
    : { ...request, earlierCredentials: [...(request.earlierCredentials ?? []), ...earlier] }
}
