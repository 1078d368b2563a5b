/** The worker's job that answers a test key. */
import type { JobDone } from '../../event-loop/off-loop.ts'
import { type SandboxAnswer, type SandboxTarget, writeAnswer } from './answer.ts'

export type SandboxInput = SandboxTarget & { bytes: Uint8Array }

export async function run({ bytes, ...target }: SandboxInput): Promise<JobDone<SandboxAnswer>> {
  const output = await writeAnswer(target, JSON.parse(new TextDecoder().decode(bytes)))
  return { output, transfer: [output.bytes.buffer as ArrayBuffer] }
}
