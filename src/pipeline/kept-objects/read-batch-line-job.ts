/** Reads one long request of a batch. */
import type { JobDone } from '../../event-loop/off-loop.ts'
import { type BatchLine, type BatchLineInput, readBatchLine } from './read-batch-line.ts'

export function run(input: BatchLineInput): JobDone<BatchLine | null> {
  return { output: readBatchLine(input) }
}
