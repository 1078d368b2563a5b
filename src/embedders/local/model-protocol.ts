/** What a proxy and its model's process say to each other. */

/** To the model. */
export interface EmbedRequest {
  id: number
  text: string
}

/** From the model: first how the start went, then an answer to each request, in their order. */
export type ModelMessage =
  | { kind: 'ready'; name: string; dimensions: number }
  | { kind: 'failed'; reason: string }
  /** Null: the model cannot read the text as a whole. */
  | { kind: 'vector'; id: number; vector: Float32Array | null }
  /** The reason never quotes the text. */
  | { kind: 'error'; id: number; reason: string }
