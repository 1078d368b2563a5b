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
}

/** Asks a network. */
export interface PaidEmbedder {
  readonly space: EmbeddingSpace
  readonly isFree: false
  /** Where it asks, and for what: who asks the same of the same gets the same vectors. */
  readonly asks: { baseUrl: string; model: string; dimensions: number | null }
  /** Rejects when it fails or when `signal` aborts; the caller then does without. */
  embed(text: string, signal: AbortSignal): Promise<EmbeddedText>
}

export interface EmbeddedText {
  /** `space.dimensions` numbers, as they were given. */
  numbers: readonly number[]
  promptTokens: number
  /** What the model is called in the answer. */
  answeredAs: string
}

export type Embedder = FreeEmbedder | PaidEmbedder
