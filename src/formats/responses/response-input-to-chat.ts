/** Translates the items of a Responses request to chat messages. */

import { invalidRequest } from '../../errors/errors.ts'
import { type ExtrasKeys, unpackCarried } from '../chat/carried.ts'
import { type Conversation, createConversation } from '../chat/conversation.ts'
import type { JsonObject } from '../json/canonical.ts'
import { readChoice, readGiven, readList, readObject, readText } from '../json/read-fields.ts'
import { answerOf } from './earlier-items.ts'
import { translateOther } from './other-items.ts'
import { type PairIds, pairItems } from './pair-items.ts'
import { translateContent } from './response-content-to-chat.ts'
import { notTranslated } from './response-fields.ts'
import { chatNameOf, readNamespace, wrapInput } from './response-tools-to-chat.ts'

/** Throws a 400 that names the invalid item. `extrasKeys` verify packed provider extras; null: they are read without being verified. */
export function translateInput(body: JsonObject, extrasKeys: ExtrasKeys | null): JsonObject[] {
  const conversation = createConversation()
  const instructions = readGiven(body, 'instructions')
  if (instructions !== undefined) conversation.system(translateContent(instructions, 'instructions'), 'instructions')
  const input = readGiven(body, 'input')
  if (typeof input === 'string') conversation.user([{ type: 'text', text: input }], 'input')
  else {
    const items = readList(input, 'input')
    const ids = pairItems(items)
    for (const [index, item] of items.entries()) {
      const param = `input[${index}]`
      translateItem(readObject(item, param), param, { conversation, extrasKeys, ids })
    }
  }
  const messages = conversation.finish()
  if (messages.length > 0) return messages
  throw invalidRequest('input must hold something to answer.', 'input')
}

interface Reading {
  conversation: Conversation
  extrasKeys: ExtrasKeys | null
  ids: PairIds
}

const TRANSLATIONS: Record<string, (item: JsonObject, param: string, reading: Reading) => void> = {
  message: translateMessage,
  function_call(item, param, { conversation }) {
    const text = readText(item.arguments, `${param}.arguments`)
    conversation.call({ ...readCall(item, param), arguments: text }, param)
  },
  custom_tool_call(item, param, { conversation }) {
    const text = wrapInput(readText(item.input, `${param}.input`))
    conversation.call({ ...readCall(item, param), arguments: text }, param)
  },
  function_call_output: translateOutput,
  custom_tool_call_output: translateOutput,
  reasoning(item, param, { conversation, extrasKeys }) {
    const carried = unpackCarried(item.encrypted_content, extrasKeys)
    // Without what it carried, reasoning is dropped: another model cannot use it.
    if (carried) conversation.carry(carried, param, answerOf(item.id))
  },
}

function translateItem(item: JsonObject, param: string, reading: Reading): void {
  const type = item.type === undefined ? 'message' : readText(item.type, `${param}.type`)
  const translate = Object.hasOwn(TRANSLATIONS, type) ? TRANSLATIONS[type] : undefined
  if (translate) translate(item, param, reading)
  else if (readGiven(item, 'role') && readGiven(item, 'content')) translateMessage(item, param, reading)
  else if (!translateOther(item, param, reading.conversation, reading.ids))
    throw notTranslated(`${param}.type`, 'this kind of item has no counterpart in chat completions.')
}

function readCall(item: JsonObject, param: string): { id: string; name: string } {
  const own = { name: readText(item.name, `${param}.name`), namespace: readNamespace(item, param) }
  return { id: readText(item.call_id, `${param}.call_id`), name: chatNameOf(own) }
}

function translateOutput(item: JsonObject, param: string, { conversation }: Reading): void {
  const parts = translateContent(item.output, `${param}.output`)
  conversation.result(readText(item.call_id, `${param}.call_id`), parts, param)
}

function translateMessage(item: JsonObject, param: string, { conversation }: Reading): void {
  const role = readChoice(item.role, `${param}.role`, ['user', 'assistant', 'system', 'developer'])
  const at = `${param}.content`
  if (role === 'user') conversation.user(translateContent(item.content, at), at)
  // `developer` becomes `system`, which every provider knows; OpenAI treats both alike.
  else if (role !== 'assistant') conversation.system(translateContent(item.content, at), at)
  else addAssistant(item.content, at, conversation)
}

function addAssistant(content: unknown, param: string, conversation: Conversation): void {
  const given = Array.isArray(content) ? content : [{ type: 'output_text', text: content }]
  const isRefusal = (part: unknown) => typeof part === 'object' && part !== null && 'refusal' in part
  const refusals = given.filter(isRefusal).map(part => readText(part.refusal, param))
  const parts = translateContent(
    given.filter(part => !isRefusal(part)),
    param,
  )
  conversation.assistant(parts, param, refusals.length > 0 ? refusals.join('') : undefined)
}
