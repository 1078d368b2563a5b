/** The sandbox's responses: generated here, deterministic, marked, and never a model's. */
import { refuse } from '../../errors/errors.ts'
import { encodeSse, splitAnswer } from '../../formats/chat/split-chat.ts'
import { completeChat } from './chat.ts'
import { completeText } from './completions.ts'
import { embedInputs } from './embeddings.ts'
import type { Request } from './fields.ts'
import { answerPassThrough } from './pass-through.ts'

const ANSWERS = { chat: completeChat, completions: completeText, embeddings: embedInputs }
export type SandboxEndpoint = keyof typeof ANSWERS

/** What is asked for: an endpoint, or the path of a pass-through operation. */
export type SandboxTarget = { endpoint: SandboxEndpoint; stream: boolean } | { path: string }

export type SandboxInput = SandboxTarget & { bytes: Uint8Array }

export interface SandboxAnswer {
  contentType: string
  bytes: Uint8Array
}

const encoder = new TextEncoder()

/**
 * Returns the body of a plain response in OpenAI's format. The same request gives the same response except for `created`, streamed or
 * not. Accepts any JSON object: throws a 400 `ProxyError` that names the field for what OpenAI would refuse, and for what is beyond the
 * sandbox's limits.
 */
export function answerInSandbox(endpoint: SandboxEndpoint, request: Request): Record<string, unknown> {
  return ANSWERS[endpoint](request)
}

/** Throws as `answerInSandbox` does, and a 404 for an operation that the sandbox lacks. */
export function writeAnswer(target: SandboxTarget, request: Request): SandboxAnswer {
  if ('path' in target) {
    const answer = answerPassThrough(target.path, request)
    if (!answer) throw refuse('pathUnsupported', { vendor: 'The sandbox, which answers test keys,', path: target.path })
    return { contentType: 'application/json', bytes: encoder.encode(JSON.stringify(answer)) }
  }
  const answer = answerInSandbox(target.endpoint, request)
  return target.stream
    ? { contentType: 'text/event-stream', bytes: encodeSse(splitAnswer(answer, { includeUsage: true })) }
    : { contentType: 'application/json', bytes: encoder.encode(JSON.stringify(answer)) }
}
