/** Responses of Anthropic's Messages API. */

import type { AnswerFormat } from '../answer-format.ts'
import { isJsonObject, type JsonObject, objectsOf } from '../json/canonical.ts'
import { encodeTypedEvents, namesEvent } from '../sse/sse.ts'
import type { TokenUsage } from '../token-usage.ts'
import { readUsage } from '../token-usage.ts'
import { wantedOfMessages } from '../wanted.ts'
import { completenessOfMessage, createMessageAssembler, hasToolUses } from './assemble-message.ts'
import { writeError } from './message-errors.ts'
import { type ReportedUsage, translateUsage } from './message-usage.ts'
import { splitMessage } from './split-message.ts'

export const messagesFormat: AnswerFormat = {
  wantedOf: wantedOfMessages,
  createAssembler: createMessageAssembler,
  isLastEvent: event => namesEvent(event, ['message_stop']),
  writeFailure(error, requestId) {
    const { type, error: body } = writeError(error, requestId)
    return encodeTypedEvents([{ type, error: body }])
  },
  replay: body => encodeTypedEvents(splitMessage(body)),
  completenessOf: completenessOfMessage,
  callsTools: hasToolUses,
  hasEnded: ({ stop_reason: reason }) => typeof reason === 'string',
  readUsage: readMessageUsage,
  textOf,
}

function readMessageUsage(usage: unknown): TokenUsage | null {
  return isJsonObject(usage) ? readUsage(translateUsage(usage as ReportedUsage), usage.service_tier) : null
}

function textOf({ content }: JsonObject): string {
  return objectsOf(content)
    .map(block => (block.type === 'tool_use' ? JSON.stringify(block.input) : (block.text ?? block.thinking)))
    .filter(text => typeof text === 'string')
    .join('\n')
}
