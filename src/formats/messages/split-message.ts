/** Splits a cached message into the events that its provider could have streamed. */

import { chunkText } from '../chat/chunk-text.ts'
import { asObjects, isJsonObject, type JsonObject } from '../json/canonical.ts'
import type { TypedEvent } from '../sse/sse.ts'
import { createMessageEventWriter, type MessageEventWriter } from './messages-translation-writer.ts'

/** The token counts of the whole message, which Anthropic sends with the last event. */
const CLOSING_COUNTS = [
  'input_tokens',
  'cache_creation_input_tokens',
  'cache_read_input_tokens',
  'output_tokens',
  'output_tokens_details',
  'server_tool_use',
]

/** Returns the events. Fields about the end of the message are sent with the last event, all others, including unknown fields, with the first. */
export function splitMessage(message: JsonObject): TypedEvent[] {
  const writer = createMessageEventWriter()
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
