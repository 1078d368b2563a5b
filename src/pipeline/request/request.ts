/** The pipeline's requests and responses, independent of any HTTP framework. */
import type { MemoryReservation } from '../../event-loop/stream-memory.ts'
import type { Endpoint } from '../../formats/endpoint.ts'
import type { ClientVendor, PassThroughOperation } from '../../providers/pass-through-operations.ts'
import type { StoredObjectPath } from '../../providers/stored-object-collections.ts'
import type { RequestTrace } from '../../telemetry/tracing/request-trace.ts'

/** The target of a path. `model` is the model in the path; `vendor` is whose API the client uses, if the path tells. */
export type RouteTarget =
  | { kind: 'endpoint'; endpoint: Endpoint; model: string | null; vendor?: ClientVendor; gemini?: GeminiCall }
  /** Forwarded to a provider as it is. */
  | { kind: 'operation'; operation: PassThroughOperation; model: string | null; vendor?: ClientVendor }
  | StoredObjectTarget
  /** Counts a prompt's tokens. */
  | { kind: 'count'; endpoint: Endpoint; gemini?: GeminiCall }
  /** Cache feedback or explanation. */
  | { kind: 'cache'; question: CacheEndpoint }
  /** `id` is one model's name as encoded in the path; null for all models. */
  | { kind: 'models'; id: string | null }
  /** Information about the key or about models, in the formats of aggregators. */
  | { kind: 'info'; about: 'key' | 'credits' | 'model/info' }
  /** A session over WebSocket. */
  | { kind: 'realtime' }
  | { kind: 'health' }
  /** Whether the process is alive, and whether it is ready for requests. */
  | { kind: 'probe'; probe: 'livez' | 'readyz' }

/** A method of Gemini's API, and the model in its path. */
export interface GeminiCall {
  method: 'generateContent' | 'streamGenerateContent' | 'countTokens' | 'embedContent' | 'batchEmbedContents'
  model: string
}

/** A collection of stored objects, or one of them. */
export type StoredObjectTarget = { kind: 'stored_object'; vendor?: ClientVendor } & StoredObjectPath

export type CacheEndpoint = 'feedback' | 'explain'

/** The targets that the pipeline serves. Other targets have no body and never count, or are sessions without a single response. */
export type PipelineTarget = Exclude<RouteTarget, { kind: 'models' | 'info' | 'health' | 'probe' | 'realtime' }>

export type HttpMethod = 'GET' | 'POST' | 'DELETE'

export interface ProxyRequest {
  /** The client's X-Request-Id if it is valid, else a generated one. */
  id: string
  target: PipelineTarget
  method: HttpMethod
  /** The URL's query, with its question mark; '' for none. */
  search: string
  /** The Authorization header. */
  authorization: string | null
  /** The client's IP address; from a forwarding header only if the sender is a trusted proxy. */
  address: string
  headers: Headers
  body: RequestBody
  /** Aborted when the client disconnects. */
  signal: AbortSignal
  /** `performance.now()` at arrival. */
  arrivedAtMs: number
  /** The request's spans, if requests are traced. */
  trace?: RequestTrace | undefined
  /** Whether the request's record ends its trace and counts it. If not, the HTTP layer does both. */
  isRecorded?: boolean
  /** Whether the proxy itself sends the request, as a trial of a model. It is not counted, and recorded only if it costs something. */
  isTrial?: boolean
  /** Memory that the response reserves in the memory budget until its client has read it. */
  responseMemory: MemoryReservation
  /** Registers a callback that runs when the response was sent or the client has disconnected. */
  onFinished(callback: () => void): void
}

/** An unread request body. */
export interface RequestBody {
  /** From Content-Length, before decoding; 0 without a body, null if it is chunked. */
  contentLength: number | null
  /** Whether Content-Length is at most 64 KiB and the body is not compressed, so that it can be read before admission. */
  isSmall: boolean
  /**
   * May be called once. Throws a ProxyError if the body is too large or too slow. `acceptsForms`: whether a form is accepted besides
   * JSON.
   */
  readBytes(acceptsForms?: boolean): Promise<Uint8Array>
  /** Reserves memory for the parsed body until the request is finished. Throws a 503 if there is none left. */
  reserveMemory(bytes: number): void
}

export interface ProxyResponse {
  status: number
  headers: Record<string, string>
  body: Uint8Array | string | ReadableStream<Uint8Array>
}
