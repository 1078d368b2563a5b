/** Writes the bytes of the sandbox's responses, plain or streamed. */
import { encodeSse, splitAnswer } from '../../formats/chat/split-chat.ts'
import { answerInSandbox } from './answer-in-sandbox.ts'

export type SandboxEndpoint = Parameters<typeof answerInSandbox>[0]

export interface SandboxInput {
  endpoint: SandboxEndpoint
  stream: boolean
  bytes: Uint8Array
}

const encoder = new TextEncoder()

export async function writeAnswer(
  endpoint: SandboxEndpoint,
  body: Record<string, unknown>,
  stream: boolean,
): Promise<Uint8Array> {
  const answer = await answerInSandbox(endpoint, body)
  return stream ? encodeSse(splitAnswer(answer, { includeUsage: true })) : encoder.encode(JSON.stringify(answer))
}
