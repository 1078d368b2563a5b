/** Translates a Messages conversation and its content blocks to chat messages. */

import { invalidRequestError } from '../../errors/errors.ts'
import type { ChatMessageBuilder, ChatPart, FunctionCall } from '../chat/chat-message-builder.ts'
import { type ExtrasKeys, unpackExtras } from '../chat/provider-extras.ts'
import type { JsonObject } from '../json/canonical.ts'
import { readArray, readEnum, readObject, readOptional, readString } from '../json/read-fields.ts'
import { setSourcePath, sourcePathOf } from '../source-paths.ts'
import { isThinkingBlock } from './assemble-message.ts'
import { createUntranslatableError } from './message-fields.ts'

/** Writes the messages with a builder. Throws a 400 that names an invalid block. */
export function translateMessages(
  body: JsonObject,
  options: BlockOptions,
  conversation: ChatMessageBuilder,
): JsonObject[] {
  const system = translateContent(readOptional(body, 'system'), 'system', options)
  if (system.length > 0) conversation.addSystem(system, 'system')
  const messages = readArray(body.messages, 'messages')
  if (messages.length === 0) throw invalidRequestError('messages: at least one message is required', 'messages')
  for (const [index, item] of messages.entries()) {
    const param = `messages[${index}]`
    const message = readObject(item, param)
    const role = readEnum(message.role, `${param}.role`, ['user', 'assistant', 'system'])
    const at = `${param}.content`
    if (role === 'system') conversation.addSystem(translateContent(message.content, at, options), at)
    else {
      const read = role === 'user' ? readUser : readAssistant
      read(readBlocks(message.content, at), at, conversation, options)
    }
  }
  return conversation.finish()
}

function readUser(blocks: JsonObject[], param: string, conversation: ChatMessageBuilder, options: BlockOptions): void {
  const parts: ChatPart[] = []
  for (const [index, block] of blocks.entries()) {
    const at = `${param}[${index}]`
    if (block.type === 'tool_result') readResult(block, at, conversation, options)
    else parts.push(...translateBlock(block, at, options))
  }
  if (parts.length > 0) conversation.addUser(parts, param)
}

function readResult(block: JsonObject, param: string, conversation: ChatMessageBuilder, options: BlockOptions): void {
  const parts = translateContent(block.content, `${param}.content`, options)
  // Chat has no field for a tool's failure.
  if (block.is_error === true) parts.unshift({ type: 'text', text: 'The tool failed.' })
  conversation.addResult(readString(block.tool_use_id, `${param}.tool_use_id`), parts, param)
}

function readAssistant(
  blocks: JsonObject[],
  param: string,
  conversation: ChatMessageBuilder,
  options: BlockOptions,
): void {
  // Thinking alone is not a message.
  if (blocks.every(isThinkingBlock)) return
  for (const [index, block] of blocks.entries()) {
    const at = `${param}[${index}]`
    if (block.type === 'tool_use') conversation.addCall(readCall(block, at), at)
    else if (isThinkingBlock(block)) {
      // Thinking without packed extras is omitted, because another model cannot use it.
      const extras = unpackExtras(block.type === 'thinking' ? block.signature : block.data, options.extrasKeys)
      if (extras) conversation.addExtras(extras, param, param)
    } else {
      const parts = translateBlock(block, at, options)
      if (parts.length > 0) conversation.addAssistant(parts, param)
    }
  }
}

function readCall(block: JsonObject, param: string): FunctionCall {
  return {
    id: readString(block.id, `${param}.id`),
    name: readString(block.name, `${param}.name`),
    arguments: JSON.stringify(readObject(block.input ?? {}, `${param}.input`)),
  }
}

export interface BlockOptions {
  /** Whether the provider supports `cache_control`. Other providers may reject the unknown field. */
  supportsCacheControl: boolean
  /** Keys that verify packed provider extras. If null, extras are read without verification. */
  extrasKeys: ExtrasKeys | null
}

/** Translates content, which is one text or a list of blocks. Returns an empty list when it is absent. */
export function translateContent(content: unknown, param: string, options: BlockOptions): ChatPart[] {
  if (content === undefined || content === null) return []
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (!Array.isArray(content)) throw invalidRequestError(`${param} must be a string or an array of blocks.`, param)
  return content.flatMap((item, index) => {
    const at = `${param}[${index}]`
    return translateBlock(readObject(item, at), at, options)
  })
}

/** Translates a block with text, an image or a document. A document that consists of blocks becomes several parts. */
export function translateBlock(block: JsonObject, param: string, options: BlockOptions): ChatPart[] {
  const parts = translateByType(block, param, options)
  const cacheControl = options.supportsCacheControl ? readOptional(block, 'cache_control') : undefined
  const last = parts.at(-1)
  if (cacheControl !== undefined && last) last.cache_control = cacheControl
  // Nested blocks already have their own source path.
  return parts.map(part => setSourcePath(part, sourcePathOf(part) ?? param))
}

function translateByType(block: JsonObject, param: string, options: BlockOptions): ChatPart[] {
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: readString(block.text, `${param}.text`) }]
    case 'image':
      return [{ type: 'image_url', image_url: { url: readImage(block, param) } }]
    case 'document':
      return translateDocument(block, param, options)
    case 'search_result': {
      const found = translateContent(block.content, `${param}.content`, options)
      return [
        {
          type: 'text',
          text: `${readString(block.title, `${param}.title`)} (${readString(block.source, `${param}.source`)})`,
        },
        ...found,
      ]
    }
    default:
      throw createUntranslatableError(`${param}.type`, 'this kind of block has no counterpart in chat completions.')
  }
}

function readImage(block: JsonObject, param: string): string {
  const at = `${param}.source`
  const source = readObject(block.source, at)
  if (source.type === 'url') return readString(source.url, `${at}.url`)
  if (source.type === 'base64') return writeDataUrl(source, at)
  throw createUntranslatableError(`${at}.type`, 'send the image itself, in base64.')
}

function writeDataUrl({ media_type: type, data }: JsonObject, param: string): string {
  return `data:${readString(type, `${param}.media_type`)};base64,${readString(data, `${param}.data`)}`
}

function translateDocument(block: JsonObject, param: string, options: BlockOptions): ChatPart[] {
  const at = `${param}.source`
  const source = readObject(block.source, at)
  const title = readOptional(block, 'title')
  // Chat's files need a name, from which providers derive the file's type.
  const filename = title === undefined ? 'document.pdf' : readString(title, `${param}.title`)
  const descriptions = [title, readOptional(block, 'context')].filter(text => typeof text === 'string')
  const heading: ChatPart[] = descriptions.length === 0 ? [] : [{ type: 'text', text: descriptions.join('\n') }]
  switch (source.type) {
    case 'text':
      return [...heading, { type: 'text', text: readString(source.data, `${at}.data`) }]
    case 'content':
      return [...heading, ...translateContent(source.content, `${at}.content`, options)]
    case 'base64':
      return [{ type: 'file', file: { filename, file_data: writeDataUrl(source, at) } }]
    case 'url':
      return [{ type: 'file', file: { filename, file_data: readString(source.url, `${at}.url`) } }]
    default:
      throw createUntranslatableError(`${at}.type`, 'send the document itself, in base64 or as text.')
  }
}

/** Returns the content as a list of blocks, even if it is one text. */
export function readBlocks(content: unknown, param: string): JsonObject[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return readArray(content ?? [], param).map((item, index) => readObject(item, `${param}[${index}]`))
}
