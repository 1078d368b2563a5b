/** The worker's job that joins, reads and judges a long response. */

import type { JobDone } from '../event-loop/off-loop.ts'
import { joinBytes } from '../formats/sse/split-events.ts'
import { type AnswerInput, judgeAnswer, type ReadAnswer } from './judge-answer.ts'

export function run({ parts, ...asked }: AnswerInput & { parts: readonly Uint8Array[] }): JobDone<ReadAnswer> {
  const bytes = joinBytes(parts)
  return { output: judgeAnswer(bytes, asked), transfer: [bytes.buffer as ArrayBuffer] }
}
