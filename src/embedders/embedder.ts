/** What every embedder offers: a text's vector, in a named space. */

export interface Embedder {
  /** Names the embedding space: vectors of different spaces never meet. */
  readonly space: { model: string; dimensions: number }
  /** Whether embedding costs microseconds and no money, so that keeping the vectors would cost more than making them again. */
  readonly isFree: boolean
  /**
   * The unit vector of a text, `space.dimensions` long. An embedder that asks a network rejects when it fails or when `signal`
   * aborts; the caller then does without.
   */
  embed(text: string, signal?: AbortSignal): Promise<Float32Array> | Float32Array
}
