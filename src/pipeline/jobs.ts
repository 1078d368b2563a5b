/** Worker jobs for long responses of embeddings and pass-through operations, and for batches. */
import type { JobResult } from '../event-loop/worker-pool.ts'
import { concatBytes } from '../formats/sse/split-events.ts'
import type { EmbeddingsReadInput, EmbeddingsReadResult } from './endpoints/embeddings/fetch-batches.ts'
import { readEmbeddingsResponse } from './endpoints/embeddings/read-response.ts'
import {
  type ExpectedPassThroughResponse,
  type PassThroughResponse,
  readPassThroughResponse,
} from './endpoints/pass-through/read-response.ts'
import { type BatchLine, type BatchLineInput, readBatchLine } from './stored-objects/batches/batch-line.ts'
import { type BatchResult, readBatchResult } from './stored-objects/batches/batch-result.ts'
import { type MessageBatch, type MessageBatchInput, parseMessageBatch } from './stored-objects/batches/message-batch.ts'

/** Reads one request of a batch. */
export function readBatchLineJob(input: BatchLineInput): JobResult<BatchLine | null> {
  return { output: readBatchLine(input) }
}

/** Reads the body that starts a message batch. */
export function readMessageBatchJob(input: MessageBatchInput): JobResult<MessageBatch> {
  return { output: parseMessageBatch(input), transfer: [input.bytes.buffer as ArrayBuffer] }
}

/** Reads one result of a message batch. */
export function readBatchResultJob(line: Uint8Array): JobResult<BatchResult | null> {
  return { output: readBatchResult(line) }
}

/** Joins and reads a pass-through operation's response. */
export function readPassThroughResponseJob({
  parts,
  ...expected
}: ExpectedPassThroughResponse & { parts: readonly Uint8Array[] }): JobResult<PassThroughResponse> {
  const bytes = concatBytes(parts)
  return { output: readPassThroughResponse(bytes, expected), transfer: [bytes.buffer as ArrayBuffer] }
}

/** Reads an embeddings response. */
export function readEmbeddingsJob({ parts, inputs }: EmbeddingsReadInput): JobResult<EmbeddingsReadResult> {
  const bytes = concatBytes(parts)
  const response = readEmbeddingsResponse(new TextDecoder().decode(bytes), inputs)
  if (!response) return { output: { bytes, response }, transfer: [bytes.buffer as ArrayBuffer] }
  // One buffer for all vectors, because it can be transferred to the main thread without a copy.
  const all = concatBytes(response.packed)
  let end = 0
  const packed = response.packed.map(({ length }) => {
    end += length
    return all.subarray(end - length, end)
  })
  return {
    output: { bytes, response: { ...response, packed } },
    transfer: [bytes.buffer as ArrayBuffer, all.buffer as ArrayBuffer],
  }
}
