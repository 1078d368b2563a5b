/** Translates items that chat has no counterpart of, by their form: what another model, or a tool of its provider, has left in a conversation. */

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
import { isCallItem, isResultItem, type PairedCallIds, toolNameOf } from './pair-calls.ts'
import { isKnownContent, translateContent } from './response-content-to-chat.ts'
import { chatToolNameOf, wrapToolInput } from './response-tools-to-chat.ts'

/** Fields that say which item it is, not what it holds. */
const ENVELOPE: ReadonlySet<string> = new Set(
  `id type status call_id approval_request_id name namespace server_label caller agent created_by execution environment
  fingerprint pending_safety_checks acknowledged_safety_checks max_output_length`.split(/\s+/),
)
/** What a tool that ran at the provider has returned, in the item of its call. */
const RETURNED = ['output', 'outputs', 'results', 'error']
/** What a call says, the first that is given. */
const SAID = ['arguments', 'input', 'action', 'operation']
/** Lists tools that only their provider has. */
const TOOL_LIST = 'mcp_list_tools'

/** Returns false for an item that it cannot read. */
export function translateUnsupportedItem(
  item: JsonObject,
  param: string,
  conversation: ChatMessageBuilder,
  ids: PairedCallIds,
): boolean {
  if (isResultItem(item)) return translateResult(item, param, conversation, ids)
  if (isCallItem(item)) translateCall(item, param, conversation, ids)
  else if (isPresent(readOptional(item, 'content'))) translateSaid(item, param, conversation)
  else return isSealed(item) || item.type === TOOL_LIST
  return true
}

/** The kinds of items whose content is lost for another model. */
export function listOmittedItemTypes({ input }: JsonObject): string[] {
  return [...new Set(asObjects(input).filter(isLost).map(formatTypeForHeader))]
}

/** Reasoning is not: without it, models go on by what was said and done. */
function isLost(item: JsonObject): boolean {
  const { type, content, result } = item
  if (type === 'reasoning' || isResultItem(item)) return false
  if (isCallItem(item)) return type === 'image_generation_call' && !isBlank(result)
  return isSealed(item) || asObjects(content).some(isSealed)
}

/** Whether only its own provider can read it. */
function isSealed(value: JsonObject): boolean {
  return typeof value.encrypted_content === 'string'
}

function translateCall(item: JsonObject, param: string, conversation: ChatMessageBuilder, ids: PairedCallIds): void {
  const id = ids.get(item) ?? (typeof item.call_id === 'string' ? item.call_id : null)
  const returned = RETURNED.map(name => readOptional(item, name)).filter(value => !isBlank(value))
  if (id !== null) {
    conversation.addCall({ id, name: nameOf(item), arguments: writeArguments(item) }, param)
    if (!ids.has(item) && returned.length > 0) conversation.addResult(id, textParts(returned, param), param)
  } else if (returned.length > 0) {
    // The provider ran it. Without an id, chat has no place for a result.
    const heading = `${nameOf(item)} ${writeArguments(item)} returned:`
    conversation.addAssistant(textParts([heading, ...returned], param), param)
  }
}

function textParts(values: readonly unknown[], param: string): ChatPart[] {
  return [setSourcePath({ type: 'text', text: values.map(writeValue).join('\n') }, param)]
}

/** Agents' calls are named by what they do. */
function nameOf(item: JsonObject): string {
  const { name, namespace, action } = item
  const own = asString(name) || asString(action) || toolNameOf(item)
  return chatToolNameOf({ name: own.replace(/[^\w-]/g, '_').slice(0, 64) || 'tool', namespace: asString(namespace) })
}

/** JSON of an object, as chat's functions have it. */
function writeArguments(item: JsonObject): string {
  const said = SAID.map(name => readOptional(item, name)).find(isPresent)
  if (isJsonObject(said)) return JSON.stringify(said)
  if (typeof said !== 'string' || said === item.action) return JSON.stringify(ownFields(item))
  return parseJsonObject(said) ? said : wrapToolInput(said)
}

/** What an item holds beyond its envelope. */
function ownFields(item: JsonObject): JsonObject {
  const isOwn = ([name, value]: [string, unknown]) =>
    !ENVELOPE.has(name) && !RETURNED.includes(name) && isPresent(value)
  return Object.fromEntries(Object.entries(item).filter(isOwn))
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
  const values = isPresent(output) ? [output] : Object.values(ownFields(item))
  return values.length === 0 ? [] : textParts([values.length === 1 ? values[0] : ownFields(item)], param)
}

function writeValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** A message between agents, for example. */
function translateSaid(item: JsonObject, param: string, conversation: ChatMessageBuilder): void {
  const { content, author, recipient } = item
  const at = `${param}.content`
  const said = Array.isArray(content) ? content.filter(part => !(isJsonObject(part) && isSealed(part))) : content
  const parts = translateContent(said, at)
  if (parts.length === 0) return
  const who = [author, recipient].filter(name => typeof name === 'string' && name !== '').join(' to ')
  const heading: ChatPart[] = who === '' ? [] : [setSourcePath({ type: 'text', text: `Message from ${who}:` }, param)]
  const texts = parts.filter(({ type }) => type === 'text')
  const media = parts.filter(({ type }) => type !== 'text')
  conversation.addAssistant([...heading, ...texts], at)
  // An assistant's message holds only text.
  if (media.length > 0) conversation.addUser([...heading, ...media], at)
}
