/** Splits a stored message into the events that its provider could have streamed. */

import { cutText } from '../chat/cut-text.ts'
import { isJsonObject, type JsonObject, objectsOf } from '../json/canonical.ts'
import type { TypedEvent } from '../sse/sse.ts'
import { createMessageWriter, type MessageWriter } from './growing-message.ts'

/** Counts that Anthropic sends with the last event, for the whole message. */
const CLOSING_COUNTS = [
  'input_tokens',
  'cache_creation_input_tokens',
  'cache_read_input_tokens',
  'output_tokens',
  'output_tokens_details',
  'server_tool_use',
]

/** How a message ended is sent with the last event. Everything else, unknown fields included, is sent with the first. */
export function splitMessage(message: JsonObject): TypedEvent[] {
  const writer = createMessageWriter()
  const usage = isJsonObject(message.usage) ? message.usage : {}
  const ended = pick(message, ['container', 'stop_details', 'stop_reason', 'stop_sequence'])
  const unended = Object.fromEntries(Object.keys(ended).map(field => [field, null]))
  const begun = { ...message, ...unended, content: [], usage: { ...usage, output_tokens: 1 } }
  writer.write('message_start', { message: begun })
  for (const block of objectsOf(message.content)) splitBlock(writer, block)
  writer.close()
  writer.write('message_delta', { delta: ended, usage: pick(usage, CLOSING_COUNTS) })
  writer.write('message_stop')
  return writer.take()
}

function pick(object: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(fields.flatMap(field => (Object.hasOwn(object, field) ? [[field, object[field]]] : [])))
}

/** Unknown kinds are sent whole, as Anthropic sends the results of its own tools. */
function splitBlock(writer: MessageWriter, block: JsonObject): void {
  const { type, text, thinking, signature, input, citations } = block
  if (type === 'text' && typeof text === 'string') {
    writer.open({ ...block, text: '', ...(Array.isArray(citations) ? { citations: [] } : {}) })
    for (const citation of Array.isArray(citations) ? citations : []) {
      writer.delta({ type: 'citations_delta', citation })
    }
    for (const piece of cutText(text)) writer.delta({ type: 'text_delta', text: piece })
  } else if (type === 'thinking' && typeof thinking === 'string') {
    writer.open({ ...block, thinking: '', signature: '' })
    for (const piece of cutText(thinking)) writer.delta({ type: 'thinking_delta', thinking: piece })
    writer.delta({ type: 'signature_delta', signature })
  } else if ((type === 'tool_use' || type === 'server_tool_use') && isJsonObject(input)) {
    writer.open({ ...block, input: {} })
    for (const piece of cutText(JSON.stringify(input))) writer.delta({ type: 'input_json_delta', partial_json: piece })
  } else writer.open(block)
}
