/** The worker's job that translates a long plain chat response. */

import type { JobDone } from '../../event-loop/off-loop.ts'
import { joinBytes } from '../../formats/sse/split-events.ts'
import { type PlainAnswer, type PlainTranslation, translateBytes } from './translate-answer.ts'

export function run({ parts, translated }: PlainAnswer): JobDone<PlainTranslation> {
  const output = translateBytes(joinBytes(parts), translated)
  return { output, transfer: 'bytes' in output ? [output.bytes.buffer as ArrayBuffer] : [] }
}
