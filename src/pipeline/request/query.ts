/** The types of parsed requests. They hold the fields that the proxy relies on. */
import type { CacheControl } from '../../cache/cache-control.ts'
import type { BodyFacts } from '../../formats/body-facts.ts'
import type { Endpoint } from '../../formats/endpoint.ts'
import type { JsonObject } from '../../formats/json/canonical.ts'
import type { StoredObjectReference } from '../../formats/stored-object-references.ts'
import type { ModelAlias } from '../../providers/aliases.ts'
import type { PassThroughOperation, RecordedEndpoint } from '../../providers/pass-through-operations.ts'
import type { StoredObjectCollection } from '../../providers/stored-object-collections.ts'
import type { PassThroughBody } from '../../providers/upstream.ts'
import type { AudioLength } from './audio-length.ts'
import type { EmbeddingsInput } from './embeddings-query.ts'

/** In UTF-16 code units. */
export const MAX_MODEL_LENGTH = 256

/** How long a response may take, and how a stream is delivered, as a client chose in headers. */
export interface Delivery {
  /** The longest time to the first token, in milliseconds; Infinity if the client sets none. */
  firstTokenMs: number
  /** Whether a stream is sent as it arrives, or once it is complete; null for the project's setting. */
  mode: 'live' | 'whole' | null
}

/** The fields that are recorded for every request. */
export interface RecordedQuery {
  /** The operation's name in records. */
  endpoint: RecordedEndpoint | 'cache/feedback'
  model: string
  stream: boolean
  body: JsonObject
  /** The alias that the client sent as the model. `model` and `body` then name the alias's model. */
  alias?: ModelAlias
}

/** A request to a model, with the fields from which its cache key is computed. */
interface CacheableQuery extends RecordedQuery {
  /** The body as the client sent it. A large body is decoded on first use. */
  readonly text: string
  /** Whether serializing the body again could change a number in it. */
  hasInexactNumber: boolean
  /** Whether the body was too large to be parsed on the event loop. Such a request has no semantic lookup. */
  isLarge: boolean
  /** The relevant fields, in canonical JSON. */
  canonicalBody: string
  facts: BodyFacts
  /** Whether the response depends on the request alone and the request has no side effects. */
  isCacheable: boolean
  /** Whether the response is only usable with the provider key that created it. */
  isBoundToKey: boolean
}

/** A parsed body, independent of the client. */
export interface ParsedBody extends CacheableQuery {
  kind: 'completion'
  endpoint: Endpoint
  /** A large body's bytes. */
  bytes?: Uint8Array
  /** Whether the client asked for usage at the end of its stream. */
  includeUsage: boolean
  /** Whether the body may refer to responses that the proxy stores. Its key must then be resolved before the request is planned. */
  referencesEarlierTurns: boolean
  /** Whether the provider or the proxy may store parts of the response. */
  canBeStored: boolean
  /** Fields of the request that its response repeats; null if all have their default values. */
  echoedFields: JsonObject | null
  /** Inputs that are looked up separately; null for a request that is cached as a whole. */
  embeddings: EmbeddingsInput | null
}

/** The client's headers, and the cache control that they request. */
interface RequestHeaders {
  headers: Headers
  /** The cache control that the client requested. The context's control is limited to what the project allows. */
  control: CacheControl
}

export interface CompletionQuery extends ParsedBody, RequestHeaders {
  /** How long the response may take, and how a stream is delivered, as the client requested it. */
  delivery: Delivery
  /** Set if the request continues a conversation that the proxy stores. `body` then holds the whole conversation. */
  continued?: {
    previousId: string | null
    /** JSON list of the request's own input items; null if they are too long to be stored. */
    ownInput: string | null
  }
}

/** A completion that is not executed: the response explains what the cache would do with it. */
export type ExplainQuery = Omit<CompletionQuery, 'kind'> & { kind: 'explain' }

/** A request that is forwarded as it is. */
export interface PassThroughQuery extends CacheableQuery, RequestHeaders {
  kind: 'pass_through'
  endpoint: PassThroughOperation
  passThroughBody: PassThroughBody
  /** The audio to be transcribed; null for other operations. */
  audio: AudioLength | null
}

/** Counts a prompt's tokens. */
export interface CountTokensQuery extends RecordedQuery {
  kind: 'count'
  endpoint: Endpoint
  /** The body as the client sent it: text, or bytes if it is large. */
  sentBody: string | Uint8Array
  /** Stored objects that the body refers to. */
  references: readonly StoredObjectReference[]
}

/** A request for stored objects. Only the request's target describes it. */
export interface StoredObjectQuery extends RecordedQuery {
  kind: 'stored_object'
  endpoint: StoredObjectCollection
}

export interface FeedbackQuery extends RecordedQuery {
  kind: 'feedback'
  /** X-Proxy-Cache-Namespace. */
  namespace: string
}

export type Query =
  | CompletionQuery
  | ExplainQuery
  | PassThroughQuery
  | CountTokensQuery
  | StoredObjectQuery
  | FeedbackQuery

/** Remembers the parsed bodies of recent cache hits, so that a repeat is not parsed again. */
export interface ParsedBodyCache {
  find(endpoint: Endpoint, text: string): ParsedBody | undefined
  /** Called only for cache hits, because other bodies are rarely sent again. */
  store(query: CompletionQuery): void
}
