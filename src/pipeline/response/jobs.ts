/** Worker jobs for long cached responses. */
import type { JobResult } from '../../event-loop/worker-pool.ts'
import { encodeReplay, type ReplayInput } from './serve-hit.ts'

/** Encodes a cached response as a stream. */
export function replayStreamJob(input: ReplayInput): JobResult<Uint8Array> {
  const output = encodeReplay(input)
  return { output, transfer: output.byteLength === output.buffer.byteLength ? [output.buffer as ArrayBuffer] : [] }
}
