/** Creates the sandbox's responses. They are deterministic, marked as test responses, and never from a model. */
import { createError } from '../../errors/errors.ts'
import { encodeSseStream, splitChatResponse } from '../../formats/chat/split-chat-response.ts'
import { createChatCompletion } from './chat.ts'
import { createTextCompletion } from './completions.ts'
import { createEmbeddings } from './embeddings.ts'
import type { SandboxRequest } from './fields.ts'
import { createPassThroughResponse } from './pass-through.ts'

const RESPONSES = { chat: createChatCompletion, completions: createTextCompletion, embeddings: createEmbeddings }
export type SandboxEndpoint = keyof typeof RESPONSES

/** The target of a request: an endpoint, or the path of a pass-through operation. */
export type SandboxTarget = { endpoint: SandboxEndpoint; stream: boolean } | { path: string }

export type SandboxInput = SandboxTarget & { bytes: Uint8Array }

export interface SandboxResponse {
  contentType: string
  bytes: Uint8Array
}

const encoder = new TextEncoder()

/**
 * Returns the body of a plain response in OpenAI's format. The same request returns the same response except for `created`, streamed or not.
 * Accepts any JSON object. Throws a 400 `ProxyError` that names the field when OpenAI would reject the request, or when it exceeds the
 * sandbox's limits.
 */
export function createSandboxResponse(endpoint: SandboxEndpoint, request: SandboxRequest): Record<string, unknown> {
  return RESPONSES[endpoint](request)
}

/** Throws as `createSandboxResponse` does, and a 404 for an operation that the sandbox lacks. */
export function encodeSandboxResponse(target: SandboxTarget, request: SandboxRequest): SandboxResponse {
  if ('path' in target) {
    const response = createPassThroughResponse(target.path, request)
    if (!response)
      throw createError('pathUnsupported', { vendor: 'The sandbox, which answers test keys,', path: target.path })
    return { contentType: 'application/json', bytes: encoder.encode(JSON.stringify(response)) }
  }
  const response = createSandboxResponse(target.endpoint, request)
  return target.stream
    ? { contentType: 'text/event-stream', bytes: encodeSseStream(splitChatResponse(response, { includeUsage: true })) }
    : { contentType: 'application/json', bytes: encoder.encode(JSON.stringify(response)) }
}
