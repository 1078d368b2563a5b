/** The messages between a proxy and its model process. */

/** To the model. */
export interface ModelRequest {
  id: number
  text: string
}

/** From the model: first the result of its start, then a reply to each request, in order. */
export type ModelMessage =
  | { kind: 'ready'; name: string; dimensions: number }
  | { kind: 'failed'; reason: string }
  /** Null when the model cannot read the whole text. */
  | { kind: 'result'; id: number; vector: Float32Array | null }
  /** The reason never quotes the text. */
  | { kind: 'error'; id: number; reason: string }
