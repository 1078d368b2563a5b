/** The worker's job that answers a long request of a test key. */
import type { JobDone } from '../../event-loop/off-loop.ts'
import { type SandboxInput, writeAnswer } from './write-answer.ts'

export async function run({ endpoint, stream, bytes }: SandboxInput): Promise<JobDone<Uint8Array>> {
  const output = await writeAnswer(endpoint, JSON.parse(new TextDecoder().decode(bytes)), stream)
  return { output, transfer: [output.buffer as ArrayBuffer] }
}
