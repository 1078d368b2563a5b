/** Defines what a translation needs of the format in which a provider responds. */

import type { StreamAssembler } from '../api-format.ts'
import type { ExpectedOutput } from '../expected-output.ts'
import type { JsonObject } from '../json/canonical.ts'
import type { Completeness } from './completeness.ts'
import type { FinishKind } from './finish-reason.ts'
import type { PartSource, PartWriter } from './part-reader.ts'

/** The format of a provider's responses that are translated. */
export interface SourceFormat {
  readonly endpoint: 'chat' | 'responses'
  createReader(writer: PartWriter): PartSource
  /** `onChunk` gets each chunk or event before it is added. */
  createAssembler(expected: ExpectedOutput, onChunk: (chunk: JsonObject) => void): StreamAssembler
  /** Whether an event ends the stream. `chunk` is its object; null if it has none. */
  isLast(data: string, chunk: JsonObject | null): boolean
  /** Returns a plain response as chunks for the reader. */
  toChunks(response: JsonObject): JsonObject[]
  completenessOf(response: JsonObject, expected: ExpectedOutput): Completeness
  finishKindOf(response: JsonObject): FinishKind
}
