/** What the response to a Responses request needs from that request. */

import type { JsonObject } from '../../json/json-object.ts'
import { includes } from '../request/to-chat-request.ts'
import { type OwnTool, toolsByChatName } from '../request/tool-names.ts'

export interface ResponseContext {
  /** The request's body. The response repeats some of its fields. */
  body: JsonObject
  /** By their names in chat. */
  tools: ReadonlyMap<string, OwnTool>
  /** True when the client will send reasoning back, and so needs the proof that it is the model's own. */
  keepsProof: boolean
  keepsLogprobs: boolean
  /** Replaces the response's id when the provider gives none. */
  requestId: string
}

export function readResponseContext(body: JsonObject, requestId: string): ResponseContext {
  const top = body.top_logprobs
  return {
    body,
    tools: toolsByChatName(body),
    keepsProof: includes(body, 'reasoning.encrypted_content'),
    keepsLogprobs: includes(body, 'message.output_text.logprobs') || (typeof top === 'number' && top > 0),
    requestId,
  }
}
