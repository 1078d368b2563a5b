/** Writes a Responses request from a chat request and its conversation. Reasoning, text and calls of a turn keep their order. */

import {
  type AssistantMessage,
  type ChatMessageBuilder,
  type ChatPart,
  createChatMessageBuilder,
} from '../chat/chat-message-builder.ts'
import { asObjects, asString, isJsonObject, type JsonObject } from '../json/canonical.ts'
import { setSourcePath, sourcePathOf } from '../source-paths.ts'
import { readPackedItems } from './reasoning-items.ts'

/** The lowest limit that OpenAI accepts. */
const MIN_OUTPUT_TOKENS = 16

export interface ResponsesRequestOptions {
  /** Whether to request encrypted reasoning. Models that do not reason reject it. */
  includesReasoning: boolean
  /** Whether to request summaries of the reasoning. */
  includesSummary: boolean
}

/** Writes the request from a chat request whose messages are already input items. Nothing is stored at the provider. `stop` has no counterpart: the response is ended by the translation. */
export function writeResponsesRequest(
  chatRequest: JsonObject,
  { includesReasoning, includesSummary }: ResponsesRequestOptions,
): JsonObject {
  const {
    messages: input,
    max_completion_tokens: limit,
    tools,
    tool_choice: choice,
    reasoning_effort: effort,
    response_format: format,
    user,
    temperature,
    top_p,
    stop: _stop,
    stream_options: _streamOptions,
    ...shared
  } = chatRequest
  const reasoning = { ...(effort !== undefined && { effort }), ...(includesSummary && { summary: 'auto' }) }
  return {
    ...shared,
    input,
    store: false,
    ...(typeof limit === 'number' && { max_output_tokens: Math.max(limit, MIN_OUTPUT_TOKENS) }),
    // Clients send the default, and models that reason reject the field with any value.
    ...(temperature !== undefined && temperature !== 1 && { temperature }),
    ...(top_p !== undefined && top_p !== 1 && { top_p }),
    ...(tools !== undefined && { tools: asObjects(tools).map(writeTool) }),
    ...(choice !== undefined && { tool_choice: writeChoice(choice) }),
    ...(Object.keys(reasoning).length > 0 && { reasoning }),
    ...(includesReasoning && { include: ['reasoning.encrypted_content'] }),
    ...(isJsonObject(format) && { text: { format: writeFormat(format) } }),
    ...(user !== undefined && { safety_identifier: user }),
  }
}

/** Writes a function. By default, this API would change its schema to a strict one. */
function writeTool(tool: JsonObject): JsonObject {
  const called = isJsonObject(tool.function) ? tool.function : {}
  return setSourcePath({ type: 'function', strict: false, ...called }, sourcePathOf(tool) ?? '')
}

function writeChoice(choice: unknown): unknown {
  const called = isJsonObject(choice) ? choice.function : undefined
  return isJsonObject(called) ? { type: 'function', name: called.name } : choice
}

function writeFormat({ type, json_schema: schema }: JsonObject): JsonObject {
  return { type, ...(isJsonObject(schema) && schema) }
}

/** Creates a builder whose `finish` returns input items. */
export function createResponseInputBuilder(): ChatMessageBuilder {
  const conversation = createChatMessageBuilder({ writeAssistant: writeTurn, hasResultMedia: true })
  return { ...conversation, finish: () => conversation.finish().flatMap(writeItems) }
}

/** The field with the items of a turn. Its calls are also in `tool_calls`, by which results are ordered. */
const ITEMS = Symbol('items')
type Turn = JsonObject & { [ITEMS]?: JsonObject[] }

/** Writes a turn of the assistant. Reasoning precedes the text or call that followed it; reasoning that nothing followed is omitted, because the API rejects it. */
function writeTurn({ pieces, calls, at }: AssistantMessage): Turn[] {
  const items: JsonObject[] = []
  let reasoning: JsonObject[] = []
  let phase: string | null = null
  for (const piece of pieces) {
    if (piece.kind === 'extras') {
      const packed = readPackedItems(piece.fields)
      reasoning.push(...packed.reasoning)
      phase = packed.phase ?? phase
      continue
    }
    const content = piece.kind === 'text' ? piece.parts.filter(({ text }) => text !== '').map(writeOutputPart) : []
    if (piece.kind === 'text' && content.length === 0) continue
    const last = items.at(-1)
    if (piece.kind === 'text' && reasoning.length === 0 && last?.role === 'assistant') {
      last.content = [...asObjects(last.content), ...content]
      continue
    }
    items.push(...reasoning)
    reasoning = []
    if (piece.kind === 'call') items.push(writeCall(piece.call))
    else {
      items.push(
        setSourcePath({ type: 'message', role: 'assistant', content, ...(phase !== null && { phase }) }, piece.at),
      )
      phase = null
    }
  }
  return items.length === 0 ? [] : [setSourcePath({ role: 'assistant', tool_calls: calls, [ITEMS]: items }, at)]
}

function writeItems(message: Turn): JsonObject[] {
  if (message[ITEMS]) return message[ITEMS]
  const at = sourcePathOf(message) ?? ''
  const content = Array.isArray(message.content) ? message.content.map(writeInputPart) : message.content
  return message.role === 'tool'
    ? [setSourcePath({ type: 'function_call_output', call_id: message.tool_call_id, output: content }, at)]
    : [setSourcePath({ type: 'message', role: message.role, content }, at)]
}

function writeCall(call: JsonObject): JsonObject {
  const { name, arguments: text } = isJsonObject(call.function) ? call.function : {}
  return setSourcePath({ type: 'function_call', call_id: call.id, name, arguments: text }, sourcePathOf(call) ?? '')
}

function writeOutputPart(part: ChatPart): JsonObject {
  return part.type === 'text' ? copyPath(part, { type: 'output_text', text: part.text }) : writeInputPart(part)
}

function writeInputPart(part: JsonObject): JsonObject {
  const { image_url: image, file, text } = part
  if (isJsonObject(image)) return copyPath(part, { type: 'input_image', image_url: image.url, detail: 'auto' })
  if (isJsonObject(file)) return copyPath(part, { type: 'input_file', ...writeFile(file) })
  return copyPath(part, { type: 'input_text', text })
}

/** Chat has no field for the address of a file. */
function writeFile({ filename, file_data: data }: JsonObject): JsonObject {
  return asString(data).startsWith('data:') ? { filename, file_data: data } : { file_url: data }
}

function copyPath(from: JsonObject, to: JsonObject): JsonObject {
  const path = sourcePathOf(from)
  return path === undefined ? to : setSourcePath(to, path)
}
