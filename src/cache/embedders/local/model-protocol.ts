/** The messages between the proxy and its model process. */

/** A message to the model process. */
export interface ModelRequest {
  id: number
  text: string
}

/** A message from the model process: first the result of loading, then a reply to each request, in order. */
export type ModelMessage =
  | { kind: 'ready'; name: string; dimensions: number }
  | { kind: 'failed'; reason: string }
  /** `vector` is null when the model cannot read the whole text. */
  | { kind: 'result'; id: number; vector: Float32Array | null }
  /** `reason` never quotes the text. */
  | { kind: 'error'; id: number; reason: string }
