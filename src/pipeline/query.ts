/** What a request asks, once its body is read: as far as the proxy relies on it. */
import type { CacheControl } from '../cache/cache-control.ts'
import type { TopContent } from '../formats/bounds/read-content.ts'
import type { JsonObject } from '../formats/json/canonical.ts'
import type { KeptReference } from '../formats/kept-references.ts'
import type { Alias } from '../providers/aliases.ts'
import type { PassedOperation, RecordedEndpoint } from '../providers/operations.ts'
import type { Endpoint, PassedBody } from '../providers/upstream.ts'
import type { EmbeddingsQuery } from './embeddings/read-query.ts'
import type { SoundLength } from './pass-through/sound-length.ts'

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
  alias?: Alias
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
  references: readonly KeptReference[] | null
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
  top?: TopContent
  /** Whether the client asked for usage at the end of its stream. */
  includeUsage: boolean
  /** Whether it names what may be kept here: then its account must be known before it is planned. */
  namesEarlier: boolean
  /** Whether something of its answer is kept, by its provider or by the proxy itself. */
  mayBeKept: boolean
  /** What its response repeats of it and another's does not; null for nothing. */
  ownFields: JsonObject | null
  /** Inputs that are looked up one by one; null for a request that is cached as a whole. */
  embeddings: EmbeddingsQuery | null
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
export interface PassedQuery extends CacheableQuery, Controlled {
  kind: 'passed'
  endpoint: PassedOperation
  passed: PassedBody
  /** That it is asked about; null for other operations. */
  sound: SoundLength | null
}

/** Counts a prompt's tokens. */
export interface CountQuery extends RecordedQuery {
  kind: 'count'
  endpoint: Endpoint
  /** The body as it was sent: text, or bytes for a large one. */
  sent: string | Uint8Array
  /** Objects kept by a provider that the body names, where what it continues was put in place; else null. */
  references: readonly KeptReference[] | null
}

/** For objects that providers keep: the target says all that is known before they are asked. */
export interface KeptQuery extends RecordedQuery {
  kind: 'kept' | 'bound' | 'response'
}

export interface FeedbackQuery extends RecordedQuery {
  kind: 'feedback'
  /** X-Proxy-Cache-Namespace. */
  namespace: string
}

export type Query = CompletionQuery | ExplainQuery | PassedQuery | CountQuery | KeptQuery | FeedbackQuery

/** Remembers the parsed bodies of recent cache hits, so that a repeat is not parsed again. */
export interface ParsedBodies {
  find(endpoint: Endpoint, text: string): ParsedBody | undefined
  /** Call it for a request answered from the cache: other bodies are rarely sent again. */
  keep(query: CompletionQuery): void
}
