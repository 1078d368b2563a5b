/** What embedders offer: a text's vector, in a named space. */

/** Names the embedding space: vectors of different spaces never meet. */
interface EmbeddingSpace {
  model: string
  dimensions: number
}

/** Embeds in microseconds and for no money, so that keeping the vectors would cost more than making them again. */
export interface FreeEmbedder {
  readonly space: EmbeddingSpace
  readonly isFree: true
  /** The unit vector of a text, `space.dimensions` long. */
  embed(text: string): Float32Array
  close(): Promise<void>
}

/** Asks a network. */
export interface PaidEmbedder {
  readonly space: EmbeddingSpace
  readonly isFree: false
  /** Where it asks, and for what: who asks the same of the same gets the same vectors. */
  readonly asks: { baseUrl: string; model: string; dimensions: number | null }
  /** Rejects when it fails or when `signal` aborts; the caller then does without. */
  embed(text: string, signal: AbortSignal): Promise<EmbeddedText>
  close(): Promise<void>
}

export interface EmbeddedText {
  /** `space.dimensions` numbers, as they were given. */
  numbers: readonly number[]
  promptTokens: number
  /** What the model is called in the answer. */
  answeredAs: string
}

/** Computes on this machine, in a process of its own: for no money, but for milliseconds of a processor. */
export interface LocalEmbedder {
  readonly space: EmbeddingSpace
  readonly isFree: false
  /** Nobody. */
  readonly asks: null
  /**
   * The unit vector of a text; null where there is none in time, or none at all. Never rejects. What was asked for lately is
   * remembered for each owner apart: that somebody else has asked must not show.
   */
  embed(text: string, owner: string): Promise<Float32Array | null>
  /** Resolves when its process has ended. */
  close(): Promise<void>
}

export type Embedder = FreeEmbedder | PaidEmbedder | LocalEmbedder
