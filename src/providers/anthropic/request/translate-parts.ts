/** Translates a message's content, a text or a list of parts, into Anthropic's blocks. */
import type { DocumentBlockParam, ImageBlockParam, TextBlockParam } from '@anthropic-ai/sdk/resources/messages'
import { invalidRequestError } from '../../../errors/errors.ts'
import type { JsonObject } from '../../../formats/json/canonical.ts'
import { readObject, readOptional, readString } from '../../../formats/json/read-fields.ts'
import { unsupportedFieldError } from '../field-rules.ts'
import { readCacheBreakpoint } from './cache-breakpoints.ts'
import { translateFile, translateImage } from './translate-media.ts'

export type ContentBlock = TextBlockParam | ImageBlockParam | DocumentBlockParam

/** Translates the content of a user or tool message. Blank text is omitted, because Anthropic rejects it. */
export function translateContent(message: JsonObject, param: string): ContentBlock[] {
  return mapParts(message, param, translatePart)
}

/** Translates content that may only be text: that of a system message, and that of an assistant message with its refusals. */
export function translateTextContent(message: JsonObject, param: string): TextBlockParam[] {
  return mapParts(message, param, translateTextPart)
}

function mapParts<Block extends ContentBlock>(
  message: JsonObject,
  param: string,
  translate: (part: JsonObject, param: string) => Block | TextBlockParam,
): (Block | TextBlockParam)[] {
  const at = `${param}.content`
  const content = readOptional(message, 'content')
  const parts = Array.isArray(content) ? content : content === undefined ? [] : [{ type: 'text', text: content }]
  const blocks = parts.map((item: unknown, index) => {
    const partAt = Array.isArray(content) ? `${at}[${index}]` : at
    const part = readObject(item, partAt)
    return { ...translate(part, partAt), ...readCacheBreakpoint(part, partAt) }
  })
  return blocks.filter(block => !('text' in block) || block.text.trim() !== '')
}

function translatePart(part: JsonObject, param: string): ContentBlock {
  if (part.type === 'image_url') return translateImage(part, param)
  if (part.type === 'file') return translateFile(part, param)
  if (part.type === 'input_audio') throw unsupportedFieldError('messages[].content[].input_audio', param)
  return translateTextPart(part, param)
}

function translateTextPart(part: JsonObject, param: string): TextBlockParam {
  if (part.type === 'refusal') return { type: 'text', text: readString(part.refusal, `${param}.refusal`) }
  if (part.type === 'text') return { type: 'text', text: readString(part.text, param) }
  throw invalidRequestError(`${param}.type is not supported by Anthropic in this position.`, `${param}.type`)
}
