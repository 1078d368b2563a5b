/** OpenAI's Responses by way of chat completions. */

import type { JsonObject } from '../../json/json-object.ts'
import { readResponseContext } from '../../responses-format/answer/response-context.ts'
import { createResponseStream, fromChatAnswer } from '../../responses-format/answer/response-stream.ts'
import { toChatRequest } from '../../responses-format/request/to-chat-request.ts'
import type { Translation } from './answer-translation.ts'

/** Throws a 400 that names what chat completions have no counterpart of. */
export function translateResponses(body: JsonObject): Translation {
  const chatRequest = toChatRequest(body)
  const context = readResponseContext(body, crypto.randomUUID())
  return {
    chatRequest,
    fromAnswer: answer => fromChatAnswer(answer, context),
    openStream: () => createResponseStream(context),
    // The same envelope.
    fromError: (_status, bodyText) => bodyText,
  }
}
