/** Responses of Anthropic's Messages API. */

import type { AnswerFormat } from '../answer-format.ts'
import { isBlank, type JsonObject, objectsOf } from '../json/canonical.ts'
import { encodeTypedEvents, namesEvent } from '../sse/sse.ts'
import { readUsage } from '../usage/read-usage.ts'
import { wantedOfMessages } from '../wanted.ts'
import { completenessOfMessage, createMessageAssembler, hasToolUses } from './assemble-message.ts'
import { writeError } from './message-errors.ts'
import { splitMessage } from './split-message.ts'

export const messagesFormat: AnswerFormat = {
  wantedOf: wantedOfMessages,
  createAssembler: createMessageAssembler,
  isLastEvent: event => namesEvent(event, ['message_stop']),
  lastEvent: encodeTypedEvents([{ type: 'message_stop' }]),
  writeFailure(error, requestId) {
    const { type, error: body } = writeError(error, requestId)
    return encodeTypedEvents([{ type, error: body }])
  },
  replay: body => encodeTypedEvents(splitMessage(body)),
  completenessOf: completenessOfMessage,
  callsTools: hasToolUses,
  hasBegun: ({ content }) => objectsOf(content).some(hasOutput),
  hasEnded: ({ stop_reason: reason }) => typeof reason === 'string',
  readUsage: usage => readUsage(usage),
  textOf,
}

/** A block of text or thinking begins empty. */
function hasOutput({ type, text, thinking }: JsonObject): boolean {
  return type === 'text' || type === 'thinking' ? !isBlank(text) || !isBlank(thinking) : true
}

function textOf({ content }: JsonObject): string {
  return objectsOf(content)
    .flatMap(({ type, name, input, text, thinking }) =>
      type === 'tool_use' ? [name, JSON.stringify(input)] : [text ?? thinking],
    )
    .filter(text => typeof text === 'string')
    .join('\n')
}
