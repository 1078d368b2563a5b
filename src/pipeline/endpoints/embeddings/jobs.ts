/** Worker jobs for long embeddings responses. */
import type { JobResult } from '../../../event-loop/worker-pool.ts'
import { concatBytes } from '../../../formats/sse/split-events.ts'
import type { EmbeddingsReadInput, EmbeddingsReadResult } from './fetch-batches.ts'
import { readEmbeddingsResponse } from './read-response.ts'

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
