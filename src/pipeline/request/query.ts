/** What a request asks, once its body is read: as far as the proxy relies on it. */
import type { CacheControl } from '../../cache/cache-control.ts'
import type { ContentSummary } from '../../formats/cost-factors/summarize-content.ts'
import type { JsonObject } from '../../formats/json/canonical.ts'
import type { StoredObjectReference } from '../../formats/stored-object-references.ts'
import type { ModelAlias } from '../../providers/aliases.ts'
import type { PassThroughOperation, RecordedEndpoint } from '../../providers/pass-through-operations.ts'
import type { Endpoint, PassThroughBody } from '../../providers/upstream.ts'
import type { AudioLength } from './audio-length.ts'
import type { EmbeddingsInput } from './embeddings-query.ts'

/** In characters. */
export const MAX_MODEL_LENGTH = 256

/** What is recorded about any request. */
export interface RecordedQuery {
  /** The operation's name in records. */
  endpoint: RecordedEndpoint | 'cache/feedback'
  model: string
  stream: boolean
  body: JsonObject
  /** What the client asked for, where that was no model's name. `model` and `body` then have the model that it stands for. */
  alias?: ModelAlias
}

/** A request that a model answers, from which the cache makes its key. */
interface CacheableQuery extends RecordedQuery {
  /** The body as it was sent. A large body is decoded on first use. */
  readonly text: string
  /** Whether serializing the body again could change a number in it. */
  hasInexactNumber: boolean
  /** Whether the body was too large to be parsed on the event loop. Such a request gets no semantic match. */
  isLarge: boolean
  /** The fields that count, in canonical JSON. */
  canonicalBody: string
  /** Objects kept by a provider that the body names; null until a provider is to be asked. */
  references: readonly StoredObjectReference[] | null
  /** Whether the response depends on the request alone and the request has no side effects. */
  isCacheable: boolean
}

/** What a body says, independent of the client. */
export interface ParsedBody extends CacheableQuery {
  kind: 'completion'
  endpoint: Endpoint
  /** A large body's bytes. */
  bytes?: Uint8Array
  /** What is in a large body, as far as it bounds its cost. */
  contentSummary?: ContentSummary
  /** Whether the client asked for usage at the end of its stream. */
  includeUsage: boolean
  /** Whether it names what may be kept here: then its account must be known before it is planned. */
  referencesEarlierTurns: boolean
  /** Whether something of its answer is kept, by its provider or by the proxy itself. */
  canBeStored: boolean
  /** What its response repeats of it and another's does not; null for nothing. */
  echoedFields: JsonObject | null
  /** Inputs that are looked up one by one; null for a request that is cached as a whole. */
  embeddings: EmbeddingsInput | null
}

/** What the client's headers say about the cache. */
interface Controlled {
  headers: Headers
  /** What the client asked for. The context's control is what the project allows of it. */
  control: CacheControl
}

export interface CompletionQuery extends ParsedBody, Controlled {
  /** Set when the request continues a conversation that is kept here: `body` holds all of it. */
  continued?: {
    previousId: string | null
    /** JSON list of the request's own input items; null when they are too long to be kept. */
    ownInput: string | null
  }
}

/** A completion that is not answered: the cache is asked what it would do with it. */
export type ExplainQuery = Omit<CompletionQuery, 'kind'> & { kind: 'explain' }

/** For an operation that is passed on as it is. */
export interface PassThroughQuery extends CacheableQuery, Controlled {
  kind: 'passed'
  endpoint: PassThroughOperation
  passThroughBody: PassThroughBody
  /** That it is asked about; null for other operations. */
  audio: AudioLength | null
}

/** Counts a prompt's tokens. */
export interface CountTokensQuery extends RecordedQuery {
  kind: 'count'
  endpoint: Endpoint
  /** The body as it was sent: text, or bytes for a large one. */
  sentBody: string | Uint8Array
  /** Objects kept by a provider that the body names, where what it continues was put in place; else null. */
  references: readonly StoredObjectReference[] | null
}

/** For objects that providers keep: the target says all that is known before they are asked. */
export interface StoredObjectQuery extends RecordedQuery {
  kind: 'kept' | 'bound' | 'response'
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
  /** Call it for a request answered from the cache: other bodies are rarely sent again. */
  store(query: CompletionQuery): void
}
