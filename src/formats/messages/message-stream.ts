/** Converts a chat response to the events of a Messages stream, and to the complete message. */

import { AnswerReader, asChunks } from '../chat/read-chat-answer.ts'
import type { JsonObject } from '../json/canonical.ts'
import type { StreamTranslation } from '../sse/sse.ts'
import { createMessageAssembler } from './assemble-message.ts'
import { createMessageWriter, GrowingMessage, type MessageContext } from './growing-message.ts'
import { writeError } from './message-errors.ts'
import { writeUsage } from './message-usage.ts'

/** Converts a plain chat response to a message. Throws a ProxyError when the response holds an error. */
export function messageFromChat(answer: JsonObject, context: MessageContext): JsonObject {
  const stream = createMessageStream(context)
  const assembler = createMessageAssembler()
  const events = asChunks(answer).flatMap(chunk => stream.push(chunk))
  for (const event of [...events, ...stream.finish()]) assembler.add(event)
  return assembler.finish().body
}

export function createMessageStream(context: MessageContext): StreamTranslation {
  const writer = createMessageWriter()
  const message = new GrowingMessage(writer, context, () => reader.carried)
  const reader = new AnswerReader(message)

  return {
    push(chunk) {
      reader.push(chunk)
      return writer.take()
    },
    finish() {
      message.end()
      const stop_reason = chooseStopReason(reader.finishReason, message)
      const { refusal } = message
      const stop_details = { type: 'refusal', category: null, explanation: refusal }
      writer.write('message_delta', {
        delta: { stop_reason, stop_sequence: null, ...(stop_reason === 'refusal' ? { stop_details } : {}) },
        usage: writeUsage(reader.usage),
      })
      writer.write('message_stop')
      return writer.take()
    },
    fail(error) {
      const { type, error: body } = writeError(error, context.requestId)
      writer.write(type, { error: body })
      return writer.take()
    },
  }
}

/** Clients execute tool calls only for `tool_use`. Some providers report `stop` beside calls, so calls take precedence. */
function chooseStopReason(finishReason: string | null, { hasCalls, refusal }: GrowingMessage): string {
  if (finishReason === 'length') return 'max_tokens'
  if (finishReason === 'content_filter') return 'refusal'
  if (hasCalls) return 'tool_use'
  return refusal === null ? 'end_turn' : 'refusal'
}
