/** The worker's job that joins and reads a pass-through operation's long response. */

import type { JobDone } from '../../event-loop/off-loop.ts'
import { joinBytes } from '../../formats/sse/split-events.ts'
import { judgePassed, type PassedAnswer } from './judge-passed.ts'

export function run(parts: readonly Uint8Array[]): JobDone<PassedAnswer> {
  const bytes = joinBytes(parts)
  return { output: judgePassed(bytes), transfer: [bytes.buffer as ArrayBuffer] }
}
