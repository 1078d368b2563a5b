/** What the answer to a Responses request has to know of the request. */

import type { JsonObject } from '../../json/json-object.ts'
import { includes } from '../request/to-chat-request.ts'
import { namesOfCustomTools } from '../request/translate-tools.ts'

export interface ResponseContext {
  /** The request, which the answer repeats in part. */
  body: JsonObject
  customTools: ReadonlySet<string>
  /** The client sends thoughts back, and wants what proves them the model's own. */
  keepsProof: boolean
  keepsLogprobs: boolean
  /** Stands for the answer's id where the provider gives none. */
  requestId: string
}

export function readResponseContext(body: JsonObject, requestId: string): ResponseContext {
  const top = body.top_logprobs
  return {
    body,
    customTools: namesOfCustomTools(body),
    keepsProof: includes(body, 'reasoning.encrypted_content'),
    keepsLogprobs: includes(body, 'message.output_text.logprobs') || (typeof top === 'number' && top > 0),
    requestId,
  }
}
