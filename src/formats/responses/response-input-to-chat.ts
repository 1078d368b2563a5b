/** Translates the items of a Responses request and their content to chat messages. */

import { invalidRequest } from '../../errors/errors.ts'
import { unpackCarried } from '../chat/carried.ts'
import { type Conversation, createConversation, type Part } from '../chat/conversation.ts'
import type { JsonObject } from '../json/canonical.ts'
import { pickGiven, readChoice, readGiven, readList, readObject, readText } from '../json/read-fields.ts'
import { placed } from '../own-place.ts'
import { answerOf } from './earlier-items.ts'
import { notTranslated } from './response-fields.ts'
import { chatNameOf, readNamespace, wrapInput } from './response-tools-to-chat.ts'

/** Throws a 400 that names the invalid item. `origin`: the provider and its model; null: whatever was carried is read. */
export function translateInput(body: JsonObject, origin: string | null): JsonObject[] {
  const conversation = createConversation()
  const instructions = readGiven(body, 'instructions')
  if (instructions !== undefined) conversation.system(translateContent(instructions, 'instructions'), 'instructions')
  const input = readGiven(body, 'input')
  if (typeof input === 'string') conversation.user([{ type: 'text', text: input }], 'input')
  else {
    for (const [index, item] of readList(input, 'input').entries()) {
      const param = `input[${index}]`
      translateItem(readObject(item, param), param, { conversation, origin })
    }
  }
  const messages = conversation.finish()
  if (messages.length > 0) return messages
  throw invalidRequest('input must hold something to answer.', 'input')
}

interface Reading {
  conversation: Conversation
  origin: string | null
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
  reasoning(item, param, { conversation, origin }) {
    const carried = unpackCarried(item.encrypted_content, origin)
    // Without what it carried, reasoning is dropped: another model cannot use it.
    if (carried) conversation.carry(carried, param, answerOf(item.id))
  },
}

function translateItem(item: JsonObject, param: string, reading: Reading): void {
  const type = item.type === undefined ? 'message' : readText(item.type, `${param}.type`)
  const translate = Object.hasOwn(TRANSLATIONS, type) ? TRANSLATIONS[type] : undefined
  if (!translate) throw notTranslated(`${param}.type`, 'this kind of item has no counterpart in chat completions.')
  translate(item, param, reading)
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

/** `content` is one text or a list of parts. Returns an empty list when it is absent. */
export function translateContent(content: unknown, param: string): Part[] {
  if (content === undefined || content === null) return []
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (!Array.isArray(content)) throw invalidRequest(`${param} must be a string or an array of parts.`, param)
  return content.map((item, index) => {
    const at = `${param}[${index}]`
    const part = readObject(item, at)
    return placed({ ...translatePart(part, at), ...pickGiven(part, MARKS) }, at)
  })
}

function translatePart(part: JsonObject, param: string): Part {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    // Chat's name of the type. Clients mix the two up, and OpenAI accepts it.
    case 'text':
      return { type: 'text', text: readText(part.text, `${param}.text`) }
    case 'input_image':
      return translateImage(part, param)
    case 'input_file':
      return translateFile(part, param)
    case 'input_audio':
      return { type: 'input_audio', input_audio: readObject(part.input_audio, `${param}.input_audio`) }
    default:
      throw invalidRequest(
        `${param}.type must be one of: input_text, input_image, input_file, input_audio.`,
        `${param}.type`,
      )
  }
}

function translateImage(part: JsonObject, param: string): Part {
  if (readGiven(part, 'file_id') !== undefined) {
    throw notTranslated(`${param}.file_id`, 'send the image itself, as a data URL.')
  }
  const detail = readGiven(part, 'detail')
  const url = readText(part.image_url, `${param}.image_url`)
  return {
    type: 'image_url',
    image_url: { url, ...(detail === undefined ? {} : { detail: translateDetail(detail, `${param}.detail`) }) },
  }
}

/** Chat has no `original`: `high` is the nearest. */
function translateDetail(detail: unknown, param: string): string {
  const asked = readText(detail, param)
  return asked === 'original' ? 'high' : asked
}

function translateFile(part: JsonObject, param: string): Part {
  const name = readGiven(part, 'filename')
  const titled = name === undefined ? {} : { filename: readText(name, `${param}.filename`) }
  const id = readGiven(part, 'file_id')
  if (id !== undefined) return { type: 'file', file: { file_id: readText(id, `${param}.file_id`), ...titled } }
  const url = readGiven(part, 'file_url')
  const field = url === undefined ? 'file_data' : 'file_url'
  return { type: 'file', file: { file_data: readText(part[field], `${param}.${field}`), ...titled } }
}

/** Marks that ask the vendor to cache the prompt up to this part. */
const MARKS = ['prompt_cache_breakpoint', 'cache_control']
