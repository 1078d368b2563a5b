/** Translates content blocks of text, images and documents to chat content parts. */

import { invalidRequest } from '../../errors.ts'
import type { JsonObject } from '../../json/json-object.ts'
import { readGiven, readList, readObject, readText } from '../../json/read-fields.ts'
import type { Part } from '../../openai-format/conversation.ts'
import { notTranslated } from './check-fields.ts'

export interface BlockOptions {
  /** Whether the provider supports `cache_control`. Others may refuse an unknown field. */
  keepsCacheMarks: boolean
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
  return parts
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
      return [{ type: 'text', text: `${readText(block.title, `${param}.title`)} (${block.source})` }, ...found]
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
