/** The interface of embedders: a text's vector in a named space. */
import type { InternalCallTrace } from '../../telemetry/tracing/request-trace.ts'

/** Names the embedding space: vectors of different spaces are never compared. */
interface EmbeddingSpace {
  model: string
  dimensions: number
}

/** Embeds in microseconds and free of charge: computing a vector again costs less than storing it. */
export interface FreeEmbedder {
  readonly space: EmbeddingSpace
  readonly isFree: true
  /** The unit vector of a text, `space.dimensions` long. */
  embed(text: string): Float32Array
  close(): Promise<void>
}

/** Calls an API. */
export interface PaidEmbedder {
  readonly space: EmbeddingSpace
  readonly isFree: false
  /** The API's address and model: an equal request to the same address gives the same vector. */
  readonly endpoint: { baseUrl: string; model: string; dimensions: number | null }
  /** Rejects when it fails or when `signal` aborts; the caller then goes on without a vector. `trace`: of the request that asks. */
  embed(text: string, signal: AbortSignal, trace?: InternalCallTrace): Promise<EmbeddingResult>
  close(): Promise<void>
}

export interface EmbeddingResult {
  /** `space.dimensions` numbers, as the API gave them. */
  numbers: readonly number[]
  promptTokens: number
  /** The model's name in the response. */
  responseModel: string
}

/** Computes on this machine, in a process of its own: free of charge, in milliseconds of processor time. */
export interface LocalEmbedder {
  readonly space: EmbeddingSpace
  readonly isFree: false
  /** It calls no API. */
  readonly endpoint: null
  /**
   * Resolves to a text's unit vector; null when there is none, or none in time. Never rejects. Recent texts are cached per owner, so that
   * timing does not reveal another owner's texts.
   */
  embed(text: string, owner: string): Promise<Float32Array | null>
  /** The same without haste: resolves when everything that requests wait for is done, or to null when too much waits already. */
  embedInBackground(text: string, owner: string): Promise<Float32Array | null>
  /** Resolves when its process has ended. */
  close(): Promise<void>
}

export type Embedder = FreeEmbedder | PaidEmbedder | LocalEmbedder
