/** The worker's job that writes another model into a long body. */
import type { JobDone } from '../event-loop/off-loop.ts'
import { type RenameInput, writeRenamed } from './rename-model.ts'

export function run({ bytes, name }: RenameInput): JobDone<Uint8Array> {
  const output = writeRenamed(bytes, name)
  return { output, transfer: [output.buffer as ArrayBuffer] }
}
