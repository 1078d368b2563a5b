/** Converts a chat response to the events of a Responses stream, and to the complete response. */

import { AnswerReader, asChunks } from '../chat/read-chat-answer.ts'
import type { JsonObject } from '../json/canonical.ts'
import type { StreamTranslation } from '../sse/sse.ts'
import { GrowingResponse } from './growing-response.ts'
import { createEventWriter } from './response-events.ts'
import type { ResponseContext, ResponseParts } from './write-response.ts'

/** Converts a plain chat response to a `response`. Throws a ProxyError when the chat response holds an error. */
export function responseFromChat(answer: JsonObject, context: ResponseContext): JsonObject {
  const stream = createResponseStream(context)
  for (const chunk of asChunks(answer)) stream.push(chunk)
  return stream.finish().at(-1)?.response as JsonObject
}

export function createResponseStream(context: ResponseContext): StreamTranslation {
  const writer = createEventWriter()
  const response = new GrowingResponse(writer, context, () => reader.carried)
  const reader = new AnswerReader(response)

  return {
    push(chunk) {
      reader.push(chunk)
      return writer.take()
    },
    finish() {
      const incompleteReason = readIncomplete(reader.finishReason)
      response.end(reader.usage, incompleteReason)
      return writer.take()
    },
    fail(error) {
      response.breakOff(reader.usage, error)
      return writer.take()
    },
  }
}

function readIncomplete(finishReason: string | null): ResponseParts['incompleteReason'] {
  if (finishReason === 'length') return 'max_output_tokens'
  return finishReason === 'content_filter' ? 'content_filter' : undefined
}
