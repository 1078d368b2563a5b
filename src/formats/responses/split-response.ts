/** Splits a cached response into the events that its provider could have streamed. */

import { chunkText } from '../chat/chunk-text.ts'
import { asObjects, asString, type JsonObject } from '../json/canonical.ts'
import type { TypedEvent } from '../sse/sse.ts'
import { createResponseEventWriter, type ResponseEventWriter } from './response-events.ts'

/** Returns the events. The last event contains the response unchanged. */
export function splitResponse(response: JsonObject): TypedEvent[] {
  const writer = createResponseEventWriter()
  const initialResponse = {
    ...response,
    status: 'in_progress',
    completed_at: null,
    error: null,
    incomplete_details: null,
    output: [],
    usage: null,
  }
  writer.write('response.created', { response: initialResponse })
  writer.write('response.in_progress', { response: initialResponse })
  for (const [index, item] of asObjects(response.output).entries()) splitItem(writer, item, index)
  const status = response.status === 'incomplete' || response.status === 'failed' ? response.status : 'completed'
  writer.write(`response.${status}`, { response })
  return writer.drainEvents()
}

/** Items of unknown kinds are sent whole. */
function splitItem(writer: ResponseEventWriter, item: JsonObject, index: number): void {
  writer.write('response.output_item.added', { output_index: index, item: withoutContent(item) })
  const place = { item_id: item.id, output_index: index }
  if (item.type === 'message') splitContent(writer, item, place)
  else if (item.type === 'reasoning') {
    splitSummary(writer, item, place)
    splitContent(writer, item, place)
  } else if (item.type === 'function_call') {
    splitText(writer, 'response.function_call_arguments.delta', item.arguments, place)
    writer.write('response.function_call_arguments.done', { ...place, name: item.name, arguments: item.arguments })
  } else if (item.type === 'custom_tool_call') {
    splitText(writer, 'response.custom_tool_call_input.delta', item.input, place)
    writer.write('response.custom_tool_call_input.done', { ...place, input: item.input })
  }
  writer.write('response.output_item.done', { output_index: index, item })
}

/** Returns the item without content, as its first event contains it. */
function withoutContent(item: JsonObject): JsonObject {
  const status = Object.hasOwn(item, 'status') ? { status: 'in_progress' } : {}
  if (item.type === 'message') return { ...item, ...status, content: [] }
  if (item.type === 'reasoning') {
    const { content, encrypted_content: _proof, ...rest } = item
    return { ...rest, ...status, summary: [], ...(Array.isArray(content) ? { content: [] } : {}) }
  }
  if (item.type === 'function_call') return { ...item, ...status, arguments: '' }
  return item.type === 'custom_tool_call' ? { ...item, ...status, input: '' } : item
}

type ItemPlace = { item_id: unknown; output_index: number }

function splitContent(writer: ResponseEventWriter, { content }: JsonObject, item: ItemPlace): void {
  for (const [index, part] of asObjects(content).entries()) {
    const place = { ...item, content_index: index }
    const kind = PART_KINDS.get(part.type)
    writer.write('response.content_part.added', { ...place, part: kind ? { ...part, ...kind.empty } : part })
    if (kind?.event === 'response.output_text.delta') splitOutputText(writer, part, place)
    else if (kind) splitText(writer, kind.event, part[kind.field], place)
    writer.closePart(place, part)
  }
}

const PART_KINDS: ReadonlyMap<unknown, { event: string; field: string; empty: JsonObject }> = new Map([
  [
    'output_text',
    { event: 'response.output_text.delta', field: 'text', empty: { text: '', annotations: [], logprobs: [] } },
  ],
  ['refusal', { event: 'response.refusal.delta', field: 'refusal', empty: { refusal: '' } }],
  ['reasoning_text', { event: 'response.reasoning_text.delta', field: 'text', empty: { text: '' } }],
])

/** Writes the text. Log probabilities are sent with their tokens if the tokens add up to the text, else with the last event. */
function splitOutputText(writer: ResponseEventWriter, part: JsonObject, place: ItemPlace): void {
  const tokens = asObjects(part.logprobs)
  const tokenText = tokens.map(({ token }) => asString(token)).join('')
  const pieces =
    tokens.length > 0 && tokenText === part.text
      ? tokens.map(token => ({ delta: token.token, logprobs: [token] }))
      : chunkText(asString(part.text)).map(delta => ({ delta, logprobs: [] }))
  for (const piece of pieces) writer.write('response.output_text.delta', { ...place, ...piece })
  const annotations = Array.isArray(part.annotations) ? part.annotations : []
  for (const [index, annotation] of annotations.entries()) {
    writer.write('response.output_text.annotation.added', { ...place, annotation_index: index, annotation })
  }
}

function splitSummary(writer: ResponseEventWriter, { summary }: JsonObject, item: ItemPlace): void {
  for (const [index, part] of asObjects(summary).entries()) {
    const place = { ...item, summary_index: index }
    writer.write('response.reasoning_summary_part.added', { ...place, part: { ...part, text: '' } })
    splitText(writer, 'response.reasoning_summary_text.delta', part.text, place)
    writer.closeSummary(place, part)
  }
}

function splitText(writer: ResponseEventWriter, type: string, text: unknown, place: ItemPlace): void {
  if (typeof text !== 'string') return
  for (const delta of chunkText(text)) writer.write(type, { ...place, delta })
}
