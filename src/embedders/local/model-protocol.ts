/** The messages between a proxy and its model process. */
import type { Alignment } from '../alignment.ts'

/** What a model is asked for. Texts that it read last are remembered per owner. */
export type ModelAsk =
  | { kind: 'embed'; text: string; owner: string }
  | { kind: 'align'; one: string; other: string; owner: string }

/** Null when the model cannot read a whole text; an alignment also when the model does not give the vectors of words. */
export interface ModelResults {
  embed: Float32Array | null
  align: Alignment | null
}

export type ModelResult = ModelResults[keyof ModelResults]

/** To the model. */
export type ModelRequest = ModelAsk & { id: number }

/** From the model: first the result of its start, then a reply to each request, in order. */
export type ModelMessage =
  | { kind: 'ready'; name: string; dimensions: number }
  | { kind: 'failed'; reason: string }
  | { kind: 'result'; id: number; result: ModelResult }
  /** The reason never quotes the text. */
  | { kind: 'error'; id: number; reason: string }
