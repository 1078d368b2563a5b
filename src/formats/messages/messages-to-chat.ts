/** Translates a Messages conversation and its content blocks to chat messages. */

import { invalidRequest } from '../../errors/errors.ts'
import { type Carried, type ExtrasKeys, unpackCarried } from '../chat/carried.ts'
import { type Conversation, createConversation, type Part } from '../chat/conversation.ts'
import type { JsonObject } from '../json/canonical.ts'
import { readChoice, readGiven, readList, readObject, readText } from '../json/read-fields.ts'
import { placed, placeOf } from '../own-place.ts'
import { notTranslated } from './message-fields.ts'

/** Throws a 400 that names the invalid block. */
export function translateMessages(body: JsonObject, options: BlockOptions): JsonObject[] {
  const conversation = createConversation()
  const system = translateContent(readGiven(body, 'system'), 'system', options)
  if (system.length > 0) conversation.system(system, 'system')
  const messages = readList(body.messages, 'messages')
  if (messages.length === 0) throw invalidRequest('messages: at least one message is required', 'messages')
  for (const [index, item] of messages.entries()) {
    const param = `messages[${index}]`
    const message = readObject(item, param)
    const role = readChoice(message.role, `${param}.role`, ['user', 'assistant', 'system'])
    const at = `${param}.content`
    if (role === 'system') conversation.system(translateContent(message.content, at, options), at)
    else {
      const read = role === 'user' ? readUser : readAssistant
      read(readBlocks(message.content, at), at, conversation, options)
    }
  }
  return conversation.finish()
}

function readUser(blocks: JsonObject[], param: string, conversation: Conversation, options: BlockOptions): void {
  const parts: Part[] = []
  for (const [index, block] of blocks.entries()) {
    const at = `${param}[${index}]`
    if (block.type === 'tool_result') readResult(block, at, conversation, options)
    else parts.push(...translateBlock(block, at, options))
  }
  if (parts.length > 0) conversation.user(parts, param)
}

function readResult(block: JsonObject, param: string, conversation: Conversation, options: BlockOptions): void {
  const parts = translateContent(block.content, `${param}.content`, options)
  // Chat has no field for a tool's failure.
  if (block.is_error === true) parts.unshift({ type: 'text', text: 'The tool failed.' })
  conversation.result(readText(block.tool_use_id, `${param}.tool_use_id`), parts, param)
}

function readAssistant(blocks: JsonObject[], param: string, conversation: Conversation, options: BlockOptions): void {
  const parts: Part[] = []
  const calls: Parameters<Conversation['call']>[] = []
  const carried: Carried[] = []
  for (const [index, block] of blocks.entries()) {
    const at = `${param}[${index}]`
    if (block.type === 'tool_use') calls.push([readCall(block, at), at])
    else if (block.type === 'thinking' || block.type === 'redacted_thinking') {
      // Without what it carried, a thought is dropped: another model cannot use it.
      const packed = block.type === 'thinking' ? block.signature : block.data
      carried.push(...[unpackCarried(packed, options.extrasKeys)].filter(each => each !== null))
    } else parts.push(...translateBlock(block, at, options))
  }
  if (parts.length === 0 && calls.length === 0) return
  for (const each of carried) conversation.carry(each, param, param)
  if (parts.length > 0) conversation.assistant(parts, param)
  for (const call of calls) conversation.call(...call)
}

function readCall(block: JsonObject, param: string): Parameters<Conversation['call']>[0] {
  return {
    id: readText(block.id, `${param}.id`),
    name: readText(block.name, `${param}.name`),
    arguments: JSON.stringify(readObject(block.input ?? {}, `${param}.input`)),
  }
}

export interface BlockOptions {
  /** Whether the provider supports `cache_control`. Others may refuse an unknown field. */
  keepsCacheMarks: boolean
  /** Verify packed provider extras; null: they are read without being verified. */
  extrasKeys: ExtrasKeys | null
}

/** `content` is one text or a list of blocks. Returns an empty list when it is absent. */
export function translateContent(content: unknown, param: string, options: BlockOptions): Part[] {
  if (content === undefined || content === null) return []
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (!Array.isArray(content)) throw invalidRequest(`${param} must be a string or an array of blocks.`, param)
  return content.flatMap((item, index) => {
    const at = `${param}[${index}]`
    return translateBlock(readObject(item, at), at, options)
  })
}

/** Translates a block of text, an image or a document. A document that is a list of blocks becomes several parts. */
export function translateBlock(block: JsonObject, param: string, options: BlockOptions): Part[] {
  const parts = translateKind(block, param, options)
  const mark = options.keepsCacheMarks ? readGiven(block, 'cache_control') : undefined
  const last = parts.at(-1)
  if (mark !== undefined && last) last.cache_control = mark
  // What is within a block says so itself.
  return parts.map(part => placed(part, placeOf(part) ?? param))
}

function translateKind(block: JsonObject, param: string, options: BlockOptions): Part[] {
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: readText(block.text, `${param}.text`) }]
    case 'image':
      return [{ type: 'image_url', image_url: { url: readImage(block, param) } }]
    case 'document':
      return translateDocument(block, param, options)
    case 'search_result': {
      const found = translateContent(block.content, `${param}.content`, options)
      return [
        {
          type: 'text',
          text: `${readText(block.title, `${param}.title`)} (${readText(block.source, `${param}.source`)})`,
        },
        ...found,
      ]
    }
    default:
      throw notTranslated(`${param}.type`, 'this kind of block has no counterpart in chat completions.')
  }
}

function readImage(block: JsonObject, param: string): string {
  const at = `${param}.source`
  const source = readObject(block.source, at)
  if (source.type === 'url') return readText(source.url, `${at}.url`)
  if (source.type === 'base64') return writeDataUrl(source, at)
  throw notTranslated(`${at}.type`, 'send the image itself, in base64.')
}

function writeDataUrl({ media_type: type, data }: JsonObject, param: string): string {
  return `data:${readText(type, `${param}.media_type`)};base64,${readText(data, `${param}.data`)}`
}

function translateDocument(block: JsonObject, param: string, options: BlockOptions): Part[] {
  const at = `${param}.source`
  const source = readObject(block.source, at)
  const title = readGiven(block, 'title')
  // Chat's files need a name, and providers tell a file's type by it.
  const filename = title === undefined ? 'document.pdf' : readText(title, `${param}.title`)
  const about = [title, readGiven(block, 'context')].filter(text => typeof text === 'string')
  const heading: Part[] = about.length === 0 ? [] : [{ type: 'text', text: about.join('\n') }]
  switch (source.type) {
    case 'text':
      return [...heading, { type: 'text', text: readText(source.data, `${at}.data`) }]
    case 'content':
      return [...heading, ...translateContent(source.content, `${at}.content`, options)]
    case 'base64':
      return [{ type: 'file', file: { filename, file_data: writeDataUrl(source, at) } }]
    case 'url':
      return [{ type: 'file', file: { filename, file_data: readText(source.url, `${at}.url`) } }]
    default:
      throw notTranslated(`${at}.type`, 'send the document itself, in base64 or as text.')
  }
}

/** Returns a list of blocks, also when the content is one text. */
export function readBlocks(content: unknown, param: string): JsonObject[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return readList(content ?? [], param).map((item, index) => readObject(item, `${param}[${index}]`))
}
