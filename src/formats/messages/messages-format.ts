/** Defines the API format of Anthropic's Messages API. */
import type { ApiFormat } from '../api-format.ts'
import { chunkText } from '../chat/chunk-text.ts'
import { readExpectedMessageOutput } from '../expected-output.ts'
import { asObjects, isBlank, isJsonObject, type JsonObject } from '../json/canonical.ts'
import { encodeTypedEvents, hasEventName, type TypedEvent } from '../sse/sse.ts'
import { readUsage } from '../usage/read-usage.ts'
import { completenessOfMessage, createMessageAssembler, hasToolUses } from './assemble-message.ts'
import { writeAnthropicError } from './message-errors.ts'
import { MessageEventWriter } from './messages-translation-writer.ts'

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

/** The token counts of the whole message, which Anthropic sends with the last event. */
const CLOSING_COUNTS = [
  'input_tokens',
  'cache_creation_input_tokens',
  'cache_read_input_tokens',
  'output_tokens',
  'output_tokens_details',
  'server_tool_use',
]

/** Splits a message into the events that its provider could have streamed. Fields about the end of the message are sent with the last event, all others, including unknown fields, with the first. */
export function splitMessage(message: JsonObject): TypedEvent[] {
  const writer = new MessageEventWriter()
  const usage = isJsonObject(message.usage) ? message.usage : {}
  const endFields = pick(message, ['container', 'stop_details', 'stop_reason', 'stop_sequence'])
  const nullEndFields = Object.fromEntries(Object.keys(endFields).map(field => [field, null]))
  const initialMessage = { ...message, ...nullEndFields, content: [], usage: { ...usage, output_tokens: 1 } }
  writer.write('message_start', { message: initialMessage })
  for (const block of asObjects(message.content)) splitBlock(writer, block)
  writer.closeBlock()
  writer.write('message_delta', { delta: endFields, usage: pick(usage, CLOSING_COUNTS) })
  writer.write('message_stop')
  return writer.drainEvents()
}

function pick(object: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(fields.flatMap(field => (Object.hasOwn(object, field) ? [[field, object[field]]] : [])))
}

/** Writes the events of a block. Unknown kinds are sent whole, like results of Anthropic's tools. */
function splitBlock(writer: MessageEventWriter, block: JsonObject): void {
  const { type, text, thinking, signature, input, citations } = block
  if (type === 'text' && typeof text === 'string') {
    writer.openBlock({ ...block, text: '', ...(Array.isArray(citations) ? { citations: [] } : {}) })
    for (const citation of Array.isArray(citations) ? citations : []) {
      writer.writeDelta({ type: 'citations_delta', citation })
    }
    for (const piece of chunkText(text)) writer.writeDelta({ type: 'text_delta', text: piece })
  } else if (type === 'thinking' && typeof thinking === 'string') {
    writer.openBlock({ ...block, thinking: '', signature: '' })
    for (const piece of chunkText(thinking)) writer.writeDelta({ type: 'thinking_delta', thinking: piece })
    writer.writeDelta({ type: 'signature_delta', signature })
  } else if ((type === 'tool_use' || type === 'server_tool_use') && isJsonObject(input)) {
    writer.openBlock({ ...block, input: {} })
    for (const piece of chunkText(JSON.stringify(input)))
      writer.writeDelta({ type: 'input_json_delta', partial_json: piece })
  } else writer.openBlock(block)
}
