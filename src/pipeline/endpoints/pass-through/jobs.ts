/** Worker jobs for long responses of pass-through operations. */
import type { JobResult } from '../../../event-loop/worker-pool.ts'
import { concatBytes } from '../../../formats/sse/split-events.ts'
import { type ExpectedPassThroughResponse, type PassThroughResponse, readPassThroughResponse } from './read-response.ts'

/** Joins and reads a pass-through operation's response. */
export function readPassThroughResponseJob({
  parts,
  ...expected
}: ExpectedPassThroughResponse & { parts: readonly Uint8Array[] }): JobResult<PassThroughResponse> {
  const bytes = concatBytes(parts)
  return { output: readPassThroughResponse(bytes, expected), transfer: [bytes.buffer as ArrayBuffer] }
}
