/** The worker's job that reads a long embeddings response. */

import type { JobDone } from '../../event-loop/off-loop.ts'
import { joinBytes } from '../../formats/sse/split-events.ts'
import type { EmbeddingsToRead, ReadEmbeddings } from './fetch-batches.ts'
import { readEmbeddingsAnswer } from './read-answer.ts'

export function run({ parts, inputs }: EmbeddingsToRead): JobDone<ReadEmbeddings> {
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
