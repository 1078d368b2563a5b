/** The worker's job that writes a long request anew with all that it refers to. */
import type { JobDone } from '../event-loop/off-loop.ts'
import { type ToContinue, type WrittenRequest, writeContinued } from '../formats/responses/continued-input.ts'

export function run(input: ToContinue): JobDone<WrittenRequest> {
  const output = writeContinued(input)
  return { output, transfer: [output.bytes.buffer as ArrayBuffer] }
}
