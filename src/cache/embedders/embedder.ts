/** The interfaces of embedders, which compute a text's vector in a named space. */
import type { InternalCallTrace } from '../../telemetry/tracing/request-trace.ts'

/** Identifies an embedding space. Vectors of different spaces are never compared. */
interface EmbeddingSpace {
  model: string
  dimensions: number
}

/** Embeds in microseconds and free of charge. Computing a vector again costs less than storing it. */
export interface FreeEmbedder {
  readonly space: EmbeddingSpace
  readonly isFree: true
  /** Returns the text's unit vector, with `space.dimensions` numbers. */
  embed(text: string): Float32Array
  close(): Promise<void>
}

/** Embeds by calling an API. */
export interface PaidEmbedder {
  readonly space: EmbeddingSpace
  readonly isFree: false
  /** The API's address and model. An equal request to the same address returns the same vector. */
  readonly endpoint: { baseUrl: string; model: string; dimensions: number | null }
  /** Rejects when the call fails or `signal` is aborted; the caller then continues without a vector. `trace` records the call. */
  embed(text: string, signal: AbortSignal, trace?: InternalCallTrace): Promise<EmbeddingResult>
  close(): Promise<void>
}

export interface EmbeddingResult {
  /** The vector as the API returned it, with `space.dimensions` numbers. */
  numbers: readonly number[]
  promptTokens: number
  /** The model's name in the response. */
  responseModel: string
}

/** Embeds in a separate process on this machine, free of charge, in milliseconds of processor time. */
export interface LocalEmbedder {
  readonly space: EmbeddingSpace
  readonly isFree: false
  /** Null, because it calls no API. */
  readonly endpoint: null
  /**
   * Resolves to a text's unit vector. Null when there is none, or none in time. Never rejects. Recent texts are cached per owner, so that
   * timing does not reveal another owner's texts.
   */
  embed(text: string, owner: string): Promise<Float32Array | null>
  /** Like `embed`, after all texts that requests wait for. Resolves to null when the queue is full. */
  embedInBackground(text: string, owner: string): Promise<Float32Array | null>
  /** Resolves when its process has ended. */
  close(): Promise<void>
}

export type Embedder = FreeEmbedder | PaidEmbedder | LocalEmbedder
