/** The worker's jobs for the pipeline: long requests and responses. */
import type { JobDone } from '../event-loop/off-loop.ts'
import {
  type KeptAs,
  readKept,
  type ToContinue,
  type WrittenRequest,
  writeContinued,
} from '../formats/responses/continued-input.ts'
import { type ToRewrite, writeOwnFields } from '../formats/responses/own-fields.ts'
import { joinBytes } from '../formats/sse/split-events.ts'
import { writeShown as writeForHook } from './checks/sent-text.ts'
import type { EmbeddingsToRead, ReadEmbeddings } from './embeddings/fetch-batches.ts'
import { readEmbeddingsAnswer } from './embeddings/read-answer.ts'
import { type BatchLine, type BatchLineInput, readBatchLine } from './kept-objects/read-batch-line.ts'
import { type MessageBatch, type MessageBatchInput, takeMessageBatch } from './kept-objects/read-message-batch.ts'
import { type BatchResult, readBatchResult } from './kept-objects/read-result.ts'
import { assessPassed, type PassedAnswer, type PassedToAssess } from './pass-through/assess-passed.ts'
import { type ReplayInput, writeReplay } from './serve-hit.ts'

/** Writes a request anew with all that it refers to. */
export function continueInput(input: ToContinue): JobDone<WrittenRequest> {
  const output = writeContinued(input)
  return { output, transfer: [output.bytes.buffer as ArrayBuffer] }
}

/** Reads what a response is kept as. */
export function readKeptResponse(response: string): JobDone<KeptAs | null> {
  return { output: readKept(response) }
}

/** Writes what the hook is shown. */
export function writeShown(input: Parameters<typeof writeForHook>[0]): JobDone<Uint8Array> {
  return { output: writeForHook(input) }
}

/** Reads one request of a batch. */
export function readLine(input: BatchLineInput): JobDone<BatchLine | null> {
  return { output: readBatchLine(input) }
}

/** Reads the body that starts a message batch. */
export function readBatch(input: MessageBatchInput): JobDone<MessageBatch> {
  return { output: takeMessageBatch(input), transfer: [input.bytes.buffer as ArrayBuffer] }
}

/** Reads one result of a message batch. */
export function readResult(line: Uint8Array): JobDone<BatchResult | null> {
  return { output: readBatchResult(line) }
}

/** Joins and reads a pass-through operation's response. */
export function readPassed({
  parts,
  ...wanted
}: PassedToAssess & { parts: readonly Uint8Array[] }): JobDone<PassedAnswer> {
  const bytes = joinBytes(parts)
  return { output: assessPassed(bytes, wanted), transfer: [bytes.buffer as ArrayBuffer] }
}

/** Writes a stored response as the stream it would have been. */
export function replay(asked: ReplayInput): JobDone<Uint8Array> {
  const output = writeReplay(asked)
  return { output, transfer: output.byteLength === output.buffer.byteLength ? [output.buffer as ArrayBuffer] : [] }
}

/** Reads an embeddings response. */
export function readVectors({ parts, inputs }: EmbeddingsToRead): JobDone<ReadEmbeddings> {
  const bytes = joinBytes(parts)
  const answer = readEmbeddingsAnswer(new TextDecoder().decode(bytes), inputs)
  if (!answer) return { output: { bytes, answer }, transfer: [bytes.buffer as ArrayBuffer] }
  // One buffer for all vectors, because it can be transferred to the main thread without a copy.
  const all = joinBytes(answer.packed)
  let end = 0
  const packed = answer.packed.map(({ length }) => {
    end += length
    return all.subarray(end - length, end)
  })
  return {
    output: { bytes, answer: { ...answer, packed } },
    transfer: [bytes.buffer as ArrayBuffer, all.buffer as ArrayBuffer],
  }
}

/** Writes the fields that a response repeats of its request. */
export function writeOwn(asked: ToRewrite): JobDone<Uint8Array> {
  return { output: writeOwnFields(asked) }
}
