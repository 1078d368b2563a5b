/** Defines the API format of Anthropic's Messages API. */

import type { ApiFormat } from '../api-format.ts'
import { readExpectedMessageOutput } from '../expected-output.ts'
import { asObjects, isBlank, type JsonObject } from '../json/canonical.ts'
import { encodeTypedEvents, hasEventName } from '../sse/sse.ts'
import { readUsage } from '../usage/read-usage.ts'
import { completenessOfMessage, createMessageAssembler, hasToolUses } from './assemble-message.ts'
import { writeAnthropicError } from './message-errors.ts'
import { splitMessage } from './split-message.ts'

export const messagesFormat: ApiFormat = {
  readExpectedOutput: readExpectedMessageOutput,
  createAssembler: createMessageAssembler,
  isLastEvent: event => hasEventName(event, ['message_stop']),
  lastEvent: encodeTypedEvents([{ type: 'message_stop' }]),
  writeFailure(error, requestId) {
    const { type, error: body } = writeAnthropicError(error, requestId)
    return encodeTypedEvents([{ type, error: body }])
  },
  replay: body => encodeTypedEvents(splitMessage(body)),
  completenessOf: completenessOfMessage,
  hasToolCalls: hasToolUses,
  hasOutput: ({ content }) => asObjects(content).some(hasOutput),
  isFinished: ({ stop_reason: reason }) => typeof reason === 'string',
  readUsage: usage => readUsage(usage),
  extractText,
}

/** Whether a block is output. Blocks of text or thinking begin empty. */
function hasOutput({ type, text, thinking }: JsonObject): boolean {
  return type === 'text' || type === 'thinking' ? !isBlank(text) || !isBlank(thinking) : true
}

function extractText({ content }: JsonObject): string {
  return asObjects(content)
    .flatMap(({ type, name, input, text, thinking }) =>
      type === 'tool_use' ? [name, JSON.stringify(input)] : [text ?? thinking],
    )
    .filter(text => typeof text === 'string')
    .join('\n')
}
