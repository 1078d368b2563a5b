/** Worker jobs for the requests and results of batches. Also reads one result of a message batch: its model and its usage. */
import type { JobResult } from '../../../event-loop/worker-pool.ts'
import { asString, isJsonObject, parseJsonObject } from '../../../formats/json/canonical.ts'
import { messagesFormat } from '../../../formats/messages/messages-format.ts'
import type { TokenUsage } from '../../../formats/token-usage.ts'
import { type BatchLine, type BatchLineInput, readBatchLine } from './batch-line.ts'
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

export interface BatchResult {
  model: string
  /** The reported usage; null if the result reports none. */
  usage: TokenUsage | null
}

/** Returns null for a request without a response, which costs nothing. */
export function readBatchResult(line: Uint8Array): BatchResult | null {
  const { result } = parseJsonObject(new TextDecoder().decode(line)) ?? {}
  if (!isJsonObject(result) || result.type !== 'succeeded' || !isJsonObject(result.message)) return null
  const { message } = result
  return { model: asString(message.model), usage: messagesFormat.readUsage(message.usage, message) }
}
