/** The sandbox's responses: generated here, deterministic, marked, and never a model's. */
import { createError } from '../../errors/errors.ts'
import { encodeSseStream, splitChatResponse } from '../../formats/chat/split-chat-response.ts'
import { createChatCompletion } from './chat.ts'
import { createTextCompletion } from './completions.ts'
import { createEmbeddings } from './embeddings.ts'
import type { SandboxRequest } from './fields.ts'
import { createPassThroughResponse } from './pass-through.ts'

const ANSWERS = { chat: createChatCompletion, completions: createTextCompletion, embeddings: createEmbeddings }
export type SandboxEndpoint = keyof typeof ANSWERS

/** What is asked for: an endpoint, or the path of a pass-through operation. */
export type SandboxTarget = { endpoint: SandboxEndpoint; stream: boolean } | { path: string }

export type SandboxInput = SandboxTarget & { bytes: Uint8Array }

export interface SandboxResponse {
  contentType: string
  bytes: Uint8Array
}

const encoder = new TextEncoder()

/**
 * Returns the body of a plain response in OpenAI's format. The same request gives the same response except for `created`, streamed or
 * not. Accepts any JSON object: throws a 400 `ProxyError` that names the field for what OpenAI would refuse, and for what is beyond the
 * sandbox's limits.
 */
export function createSandboxResponse(endpoint: SandboxEndpoint, request: SandboxRequest): Record<string, unknown> {
  return ANSWERS[endpoint](request)
}

/** Throws as `createSandboxResponse` does, and a 404 for an operation that the sandbox lacks. */
export function encodeSandboxResponse(target: SandboxTarget, request: SandboxRequest): SandboxResponse {
  if ('path' in target) {
    const answer = createPassThroughResponse(target.path, request)
    if (!answer)
      throw createError('pathUnsupported', { vendor: 'The sandbox, which answers test keys,', path: target.path })
    return { contentType: 'application/json', bytes: encoder.encode(JSON.stringify(answer)) }
  }
  const answer = createSandboxResponse(target.endpoint, request)
  return target.stream
    ? { contentType: 'text/event-stream', bytes: encodeSseStream(splitChatResponse(answer, { includeUsage: true })) }
    : { contentType: 'application/json', bytes: encoder.encode(JSON.stringify(answer)) }
}
