/** OpenAI's Responses API on top of chat completions. */

import type { JsonObject } from '../../json/json-object.ts'
import { type ResponseContext, readResponseContext } from '../../responses-format/answer/response-context.ts'
import { createResponseStream, fromChatAnswer } from '../../responses-format/answer/response-stream.ts'
import { toChatRequest } from '../../responses-format/request/to-chat-request.ts'
import type { Translated, Translation } from './answer-translation.ts'

/** Throws a 400 that names a field without a counterpart in chat completions. */
export function translateResponses(body: JsonObject): Translated {
  const chatRequest = toChatRequest(body)
  return { chatRequest, context: { endpoint: 'responses', context: readResponseContext(body, crypto.randomUUID()) } }
}

export function translationOfResponses(context: ResponseContext): Translation {
  return {
    fromAnswer: answer => fromChatAnswer(answer, context),
    openStream: () => createResponseStream(context),
    // Both APIs use the same envelope.
    fromError: (_status, bodyText) => bodyText,
  }
}
