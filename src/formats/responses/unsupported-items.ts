/** Translates items without a counterpart in chat by their form. Other models, or tools of their providers, have added them to the conversation. */

import type { ChatMessageBuilder, ChatPart } from '../chat/chat-message-builder.ts'
import { formatTypeForHeader } from '../hosted-tools.ts'
import {
  asObjects,
  asString,
  isBlank,
  isJsonObject,
  isPresent,
  type JsonObject,
  parseJsonObject,
} from '../json/canonical.ts'
import { readOptional } from '../json/read-fields.ts'
import { setSourcePath } from '../source-paths.ts'
import { isCallItem, isCallOutputItem, type PairedCallIds, toolNameOf } from './pair-calls.ts'
import { isKnownContent, translateContent } from './response-content-to-chat.ts'
import { chatToolNameOf, wrapToolInput } from './response-tools-to-chat.ts'

/** Fields that identify an item and are not its content. */
const ENVELOPE_FIELDS: ReadonlySet<string> = new Set(
  `id type status call_id approval_request_id name namespace server_label caller agent created_by execution environment
  fingerprint pending_safety_checks acknowledged_safety_checks max_output_length`.split(/\s+/),
)
/** Fields of a call's item with the result of a tool that ran at the provider. */
const RESULT_FIELDS = ['output', 'outputs', 'results', 'error']
/** Fields with the arguments of a call. The first that is present counts. */
const ARGUMENT_FIELDS = ['arguments', 'input', 'action', 'operation']
/** The type of items that list tools of a provider. */
const TOOL_LIST = 'mcp_list_tools'

/** Translates an item. Returns false for an item that it cannot read. */
export function translateUnsupportedItem(
  item: JsonObject,
  param: string,
  conversation: ChatMessageBuilder,
  ids: PairedCallIds,
): boolean {
  if (isCallOutputItem(item)) return translateResult(item, param, conversation, ids)
  if (isCallItem(item)) translateCall(item, param, conversation, ids)
  else if (isPresent(readOptional(item, 'content'))) translateContentItem(item, param, conversation)
  else return isEncrypted(item) || item.type === TOOL_LIST
  return true
}

/** Returns the types of items whose content is omitted because other models cannot read it. */
export function listOmittedItemTypes({ input }: JsonObject): string[] {
  return [...new Set(asObjects(input).filter(isOmitted).map(formatTypeForHeader))]
}

/** Whether an item's content is omitted. Reasoning does not count, because models can continue without it. */
function isOmitted(item: JsonObject): boolean {
  const { type, content, result } = item
  if (type === 'reasoning' || isCallOutputItem(item)) return false
  if (isCallItem(item)) return type === 'image_generation_call' && !isBlank(result)
  return isEncrypted(item) || asObjects(content).some(isEncrypted)
}

/** Whether only the provider that created the value can read it. */
function isEncrypted(value: JsonObject): boolean {
  return typeof value.encrypted_content === 'string'
}

function translateCall(item: JsonObject, param: string, conversation: ChatMessageBuilder, ids: PairedCallIds): void {
  const id = ids.get(item) ?? (typeof item.call_id === 'string' ? item.call_id : null)
  const results = RESULT_FIELDS.map(name => readOptional(item, name)).filter(value => !isBlank(value))
  if (id !== null) {
    conversation.addCall({ id, name: nameOf(item), arguments: writeArguments(item) }, param)
    if (!ids.has(item) && results.length > 0) conversation.addResult(id, textParts(results, param), param)
  } else if (results.length > 0) {
    // The provider ran the call. Without an id, chat cannot represent its result.
    const heading = `${nameOf(item)} ${writeArguments(item)} returned:`
    conversation.addAssistant(textParts([heading, ...results], param), param)
  }
}

function textParts(values: readonly unknown[], param: string): ChatPart[] {
  return [setSourcePath({ type: 'text', text: values.map(writeValue).join('\n') }, param)]
}

/** Returns the tool name of a call. Calls of agents are named by their action. */
function nameOf(item: JsonObject): string {
  const { name, namespace, action } = item
  const toolName = asString(name) || asString(action) || toolNameOf(item)
  return chatToolNameOf({
    name: toolName.replace(/[^\w-]/g, '_').slice(0, 64) || 'tool',
    namespace: asString(namespace),
  })
}

/** Returns the arguments of a call as the JSON text of an object. */
function writeArguments(item: JsonObject): string {
  const given = ARGUMENT_FIELDS.map(name => readOptional(item, name)).find(isPresent)
  if (isJsonObject(given)) return JSON.stringify(given)
  if (typeof given !== 'string' || given === item.action) return JSON.stringify(contentFieldsOf(item))
  return parseJsonObject(given) ? given : wrapToolInput(given)
}

/** Returns the content fields of an item. */
function contentFieldsOf(item: JsonObject): JsonObject {
  const isContent = ([name, value]: [string, unknown]) =>
    !ENVELOPE_FIELDS.has(name) && !RESULT_FIELDS.includes(name) && isPresent(value)
  return Object.fromEntries(Object.entries(item).filter(isContent))
}

function translateResult(
  item: JsonObject,
  param: string,
  conversation: ChatMessageBuilder,
  ids: PairedCallIds,
): boolean {
  const parts = readResult(item, param)
  if (parts.length === 0 && !isPresent(item.status)) return false
  // Chat has no field for a tool's failure.
  if (item.status === 'failed') parts.unshift(setSourcePath({ type: 'text', text: 'The tool failed.' }, param))
  const id = ids.get(item) ?? asString(item.call_id)
  if (id !== '') conversation.addResult(id, parts, param)
  else if (parts.length > 0) conversation.addUser(parts, param)
  return true
}

function readResult(item: JsonObject, param: string): ChatPart[] {
  const output = readOptional(item, 'output')
  const content = isJsonObject(output) ? [output] : output
  if (isKnownContent(content)) return translateContent(content, `${param}.output`)
  const values = isPresent(output) ? [output] : Object.values(contentFieldsOf(item))
  return values.length === 0 ? [] : textParts([values.length === 1 ? values[0] : contentFieldsOf(item)], param)
}

function writeValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Translates an item with content, such as a message between agents. */
function translateContentItem(item: JsonObject, param: string, conversation: ChatMessageBuilder): void {
  const { content, author, recipient } = item
  const at = `${param}.content`
  const given = Array.isArray(content) ? content.filter(part => !(isJsonObject(part) && isEncrypted(part))) : content
  const parts = translateContent(given, at)
  if (parts.length === 0) return
  const who = [author, recipient].filter(name => typeof name === 'string' && name !== '').join(' to ')
  const heading: ChatPart[] = who === '' ? [] : [setSourcePath({ type: 'text', text: `Message from ${who}:` }, param)]
  const texts = parts.filter(({ type }) => type === 'text')
  const media = parts.filter(({ type }) => type !== 'text')
  conversation.addAssistant([...heading, ...texts], at)
  // An assistant's message can contain only text.
  if (media.length > 0) conversation.addUser([...heading, ...media], at)
}
