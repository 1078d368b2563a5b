/** Worker jobs for the requests and results of batches. */
import type { JobResult } from '../../../event-loop/worker-pool.ts'
import { type BatchLine, type BatchLineInput, readBatchLine } from './batch-line.ts'
import { type BatchResult, readBatchResult } from './batch-result.ts'
import { type MessageBatch, type MessageBatchInput, parseMessageBatch } from './message-batch.ts'

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
