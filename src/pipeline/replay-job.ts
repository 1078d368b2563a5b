/** The worker's job that writes a long stored response as the stream it would have been. */
import type { JobDone } from '../event-loop/off-loop.ts'
import { type ReplayInput, writeReplay } from './serve-hit.ts'

export function run(asked: ReplayInput): JobDone<Uint8Array> {
  const output = writeReplay(asked)
  return { output, transfer: output.byteLength === output.buffer.byteLength ? [output.buffer as ArrayBuffer] : [] }
}
