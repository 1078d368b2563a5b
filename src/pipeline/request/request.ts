/** What goes into the pipeline and what comes out, independent of any HTTP framework. */
import type { MemoryReservation } from '../../event-loop/stream-memory.ts'
import type { ObjectCollection } from '../../postgres/stored-objects.ts'
import type { OpenAiObjectPath } from '../../providers/openai-collections.ts'
import type { ClientVendor, PassThroughOperation } from '../../providers/pass-through-operations.ts'
import type { Endpoint } from '../../providers/upstream.ts'
import type { RequestTrace } from '../../telemetry/tracing/request-trace.ts'

/** What a path asks for. `model` is the one in the path, `vendor` whose API the client speaks, if that is said. */
export type RouteTarget =
  | { kind: 'endpoint'; endpoint: Endpoint; model: string | null; vendor?: ClientVendor }
  /** Passed through to a provider. */
  | { kind: 'operation'; operation: PassThroughOperation; model: string | null; vendor?: ClientVendor }
  /**
   * The list of files or batches if `id` is null, else one of them. `part` is a part of it, with a leading slash; '' for the object
   * itself.
   */
  | { kind: 'kept'; collection: ObjectCollection; id: string | null; part: string; vendor?: ClientVendor }
  /** What OpenAI keeps besides, for a project with a key of its own. */
  | ({ kind: 'bound'; vendor?: ClientVendor } & OpenAiObjectPath)
  /** `part` is a part of a kept response, with a leading slash; '' for the response itself. */
  | { kind: 'response'; id: string; part: string; vendor?: ClientVendor }
  /** Counts a prompt's tokens. */
  | { kind: 'count'; endpoint: Endpoint }
  /** A question about the cache itself. */
  | { kind: 'cache'; question: CacheEndpoint }
  /** `id` is one model's name as in the path, escaped; null for all models. */
  | { kind: 'models'; id: string | null }
  /** What aggregators tell of a key and of models. */
  | { kind: 'told'; about: 'key' | 'credits' | 'model/info' }
  /** A session over WebSocket. */
  | { kind: 'realtime' }
  | { kind: 'health' }
  /** Whether the process lives, and whether it should get requests. */
  | { kind: 'probe'; probe: 'livez' | 'readyz' }

export type CacheEndpoint = 'feedback' | 'explain'

/** What the pipeline answers. Health, probes and what is told of models and keys have no body, and count nowhere; sessions have no one answer. */
export type PipelineTarget = Exclude<RouteTarget, { kind: 'models' | 'told' | 'health' | 'probe' | 'realtime' }>

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
  /** The client's address, as far as it can be trusted. */
  address: string
  headers: Headers
  body: RequestBody
  /** Aborted when the client goes away. */
  signal: AbortSignal
  /** `performance.now()` at arrival. */
  arrivedAtMs: number
  /** Its spans, where requests are traced. */
  trace?: RequestTrace | undefined
  /** Its record ends its trace and is counted; without one, whoever answers does both. */
  isRecorded?: boolean
  /** What its response takes of the memory budget, until its client has read it. */
  responseMemory: MemoryReservation
  /** Registers a callback for when the response was sent, or the client has left. */
  onFinished(act: () => void): void
}

/** A request body that is not read yet. */
export interface RequestBody {
  /** From Content-Length, before decoding; 0 when there is no body, null when it is chunked. */
  contentLength: number | null
  /** Announced, with 64 KiB at most, and not compressed: small enough to be read before the request is admitted. */
  isSmall: boolean
  /**
   * May be called once. Throws a ProxyError when the body is too large or too slow. `takesForms`: whether a form is accepted besides
   * JSON.
   */
  readBytes(takesForms?: boolean): Promise<Uint8Array>
  /** Reserves memory for what parsing made of the body, until the request is answered. Throws a 503 when there is none left. */
  reserveMemory(bytes: number): void
}

export interface ProxyResponse {
  status: number
  headers: Record<string, string>
  body: Uint8Array | string | ReadableStream<Uint8Array>
}
