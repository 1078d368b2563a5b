/** Translates a Responses request, and its items, to a chat request. */

import { invalidRequestError } from '../../errors/errors.ts'
import { type ChatMessageBuilder, createChatMessageBuilder } from '../chat/chat-message-builder.ts'
import { type ExtrasKeys, unpackExtras } from '../chat/provider-extras.ts'
import type { JsonObject } from '../json/canonical.ts'
import { pickPresent, readArray, readEnum, readObject, readOptional, readString } from '../json/read-fields.ts'
import { responseBaseIdOf } from './item-references.ts'
import { type PairedCallIds, pairCallsWithResults } from './pair-calls.ts'
import { translateContent } from './response-content-to-chat.ts'
import { createUntranslatableError, pickUnknownFields } from './response-fields.ts'
import { chatToolNameOf, readNamespace, translateTools, wrapToolInput } from './response-tools-to-chat.ts'
import { translateUnsupportedItem } from './unsupported-items.ts'

/** Fields with the same name and meaning in both APIs. */
const SHARED_FIELDS = [
  'temperature',
  'top_p',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'service_tier',
]

/** Translates the request. Throws a 400 for a field that is invalid or has no counterpart in chat completions. */
export function translateResponsesRequest(body: JsonObject, extrasKeys: ExtrasKeys | null): JsonObject {
  const unknown = pickUnknownFields(body)
  const limit = readOptional(body, 'max_output_tokens')
  return {
    ...unknown,
    model: body.model,
    messages: translateInput(body, extrasKeys),
    ...translateTools(body),
    ...translateText(body),
    ...translateReasoning(body),
    ...translateLogprobs(body),
    ...pickPresent(body, SHARED_FIELDS),
    ...(limit === undefined ? {} : { max_completion_tokens: limit }),
    ...(body.stream === true ? { stream: true, stream_options: { include_usage: true } } : {}),
  }
}

function translateText(body: JsonObject): JsonObject {
  const text = readObject(readOptional(body, 'text') ?? {}, 'text')
  return { ...translateFormat(text), ...pickPresent(text, ['verbosity']) }
}

function translateFormat(text: JsonObject): JsonObject {
  const given = readOptional(text, 'format')
  if (given === undefined) return {}
  const format = readObject(given, 'text.format')
  const type = readEnum(format.type, 'text.format.type', ['text', 'json_object', 'json_schema'])
  if (type === 'text') return {}
  if (type === 'json_object') return { response_format: { type } }
  const { name, schema, description, strict } = format
  const schemaFields = {
    name: readString(name, 'text.format.name'),
    ...(typeof description === 'string' ? { description } : {}),
    schema: readObject(schema, 'text.format.schema'),
    ...(typeof strict === 'boolean' ? { strict } : {}),
  }
  return { response_format: { type, json_schema: schemaFields } }
}

function translateReasoning(body: JsonObject): JsonObject {
  const effort = readOptional(readObject(readOptional(body, 'reasoning') ?? {}, 'reasoning'), 'effort')
  return effort === undefined ? {} : { reasoning_effort: effort }
}

function translateLogprobs(body: JsonObject): JsonObject {
  const top = readOptional(body, 'top_logprobs')
  if (!hasInclude(body, 'message.output_text.logprobs') && (top === undefined || top === 0)) return {}
  return { ...(top === undefined ? {} : { top_logprobs: top }), logprobs: true }
}

/** Whether `include` contains `value`. Throws a 400 when `include` is not a list. */
export function hasInclude(body: JsonObject, value: string): boolean {
  return readArray(readOptional(body, 'include') ?? [], 'include').includes(value)
}

/** Translates the input. Throws a 400 that names an invalid item. `extrasKeys` verify packed provider extras; null reads them without verification. */
export function translateInput(body: JsonObject, extrasKeys: ExtrasKeys | null): JsonObject[] {
  const conversation = createChatMessageBuilder()
  const instructions = readOptional(body, 'instructions')
  if (instructions !== undefined) conversation.addSystem(translateContent(instructions, 'instructions'), 'instructions')
  const input = readOptional(body, 'input')
  if (typeof input === 'string') conversation.addUser([{ type: 'text', text: input }], 'input')
  else {
    const items = readArray(input, 'input')
    const ids = pairCallsWithResults(items)
    for (const [index, item] of items.entries()) {
      const param = `input[${index}]`
      translateItem(readObject(item, param), param, { conversation, extrasKeys, ids })
    }
  }
  const messages = conversation.finish()
  if (messages.length > 0) return messages
  throw invalidRequestError('input must contain at least one message.', 'input')
}

interface ItemContext {
  conversation: ChatMessageBuilder
  extrasKeys: ExtrasKeys | null
  ids: PairedCallIds
}

const TRANSLATIONS: Record<string, (item: JsonObject, param: string, context: ItemContext) => void> = {
  message: translateMessage,
  function_call(item, param, { conversation }) {
    const text = readString(item.arguments, `${param}.arguments`)
    conversation.addCall({ ...readCall(item, param), arguments: text }, param)
  },
  custom_tool_call(item, param, { conversation }) {
    const text = wrapToolInput(readString(item.input, `${param}.input`))
    conversation.addCall({ ...readCall(item, param), arguments: text }, param)
  },
  function_call_output: translateOutput,
  custom_tool_call_output: translateOutput,
  reasoning(item, param, { conversation, extrasKeys }) {
    const extras = unpackExtras(item.encrypted_content, extrasKeys)
    // Reasoning without packed extras is omitted, because another model cannot use it.
    if (extras) conversation.addExtras(extras, param, responseBaseIdOf(item.id))
  },
}

function translateItem(item: JsonObject, param: string, context: ItemContext): void {
  const type = item.type === undefined ? 'message' : readString(item.type, `${param}.type`)
  const translate = Object.hasOwn(TRANSLATIONS, type) ? TRANSLATIONS[type] : undefined
  if (translate) translate(item, param, context)
  else if (readOptional(item, 'role') && readOptional(item, 'content')) translateMessage(item, param, context)
  else if (!translateUnsupportedItem(item, param, context.conversation, context.ids))
    throw createUntranslatableError(`${param}.type`, 'this kind of item has no counterpart in chat completions.')
}

function readCall(item: JsonObject, param: string): { id: string; name: string } {
  const tool = { name: readString(item.name, `${param}.name`), namespace: readNamespace(item, param) }
  return { id: readString(item.call_id, `${param}.call_id`), name: chatToolNameOf(tool) }
}

function translateOutput(item: JsonObject, param: string, { conversation }: ItemContext): void {
  const parts = translateContent(item.output, `${param}.output`)
  conversation.addResult(readString(item.call_id, `${param}.call_id`), parts, param)
}

function translateMessage(item: JsonObject, param: string, { conversation }: ItemContext): void {
  const role = readEnum(item.role, `${param}.role`, ['user', 'assistant', 'system', 'developer'])
  const at = `${param}.content`
  if (role === 'user') conversation.addUser(translateContent(item.content, at), at)
  // `developer` becomes `system`, which every provider knows; OpenAI treats both alike.
  else if (role !== 'assistant') conversation.addSystem(translateContent(item.content, at), at)
  else addAssistant(item.content, at, conversation)
}

function addAssistant(content: unknown, param: string, conversation: ChatMessageBuilder): void {
  const contentParts = Array.isArray(content) ? content : [{ type: 'output_text', text: content }]
  const isRefusal = (part: unknown) => typeof part === 'object' && part !== null && 'refusal' in part
  const refusals = contentParts.filter(isRefusal).map(part => readString(part.refusal, param))
  const parts = translateContent(
    contentParts.filter(part => !isRefusal(part)),
    param,
  )
  conversation.addAssistant(parts, param, refusals.length > 0 ? refusals.join('') : undefined)
}
