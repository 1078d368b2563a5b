/** The worker's job that answers a test key. */
import type { JobDone } from '../../event-loop/off-loop.ts'
import { type SandboxAnswer, type SandboxTarget, writeAnswer } from './answer.ts'

export type SandboxInput = SandboxTarget & { bytes: Uint8Array }

export function run({ bytes, ...target }: SandboxInput): JobDone<SandboxAnswer> {
  const output = writeAnswer(target, JSON.parse(new TextDecoder().decode(bytes)))
  return { output, transfer: [output.bytes.buffer as ArrayBuffer] }
}
