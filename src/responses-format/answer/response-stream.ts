/** Translates a chat response into the events of a Responses stream, or into the whole response that ends it. */

import type { ProxyError } from '../../errors.ts'
import type { JsonObject } from '../../json/json-object.ts'
import { asChunk, createAnswerReader } from '../../openai-format/read-answer.ts'
import type { TypedEvent } from '../../openai-format/typed-events.ts'
import { createEventWriter } from './event-writer.ts'
import { GrowingResponse } from './growing-response.ts'
import type { ResponseContext } from './response-context.ts'
import type { ResponseParts } from './write-response.ts'

export interface ResponseStream {
  /** Translates one parsed chat chunk into events. Throws a ProxyError, for `fail`. */
  push(chunk: JsonObject): TypedEvent[]
  /** The events that end the response. */
  finish(): TypedEvent[]
  /** The events that end a response that broke off. */
  fail(error: Pick<ProxyError, 'code' | 'message'>): TypedEvent[]
}

/** Translates a plain chat response into a `response`. Throws a ProxyError when it contains an error. */
export function fromChatAnswer(answer: JsonObject, context: ResponseContext): JsonObject {
  const stream = createResponseStream(context)
  stream.push(asChunk(answer))
  return stream.finish().at(-1)?.response as JsonObject
}

export function createResponseStream(context: ResponseContext): ResponseStream {
  const writer = createEventWriter()
  const response = new GrowingResponse(writer, context, () => reader.proof)
  const reader = createAnswerReader(response)

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
