/** Translates the content of Responses items, which is text or a list of parts, to parts of chat messages. */

import { invalidRequestError } from '../../errors/errors.ts'
import type { ChatPart } from '../chat/chat-message-builder.ts'
import { isJsonObject, type JsonObject } from '../json/canonical.ts'
import { pickPresent, readObject, readOptional, readString } from '../json/read-fields.ts'
import { setSourcePath } from '../source-paths.ts'
import { createUntranslatableError } from './response-fields.ts'

/** Fields that make the vendor cache the prompt up to a part. */
const CACHE_FIELDS = ['prompt_cache_breakpoint', 'cache_control']

/** Translates content, which is one text or a list of parts. Returns an empty list when it is absent. */
export function translateContent(content: unknown, param: string): ChatPart[] {
  if (content === undefined || content === null) return []
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (!Array.isArray(content)) throw invalidRequestError(`${param} must be a string or an array of parts.`, param)
  return content.map((item, index) => {
    const at = `${param}[${index}]`
    const part = readObject(item, at)
    return setSourcePath({ ...translatePart(part, at), ...pickPresent(part, CACHE_FIELDS) }, at)
  })
}

const PART_TYPES: ReadonlySet<unknown> = new Set(
  'input_text output_text text input_image computer_screenshot input_file input_audio'.split(' '),
)

/** Whether a value is text or a list of parts of known types. */
export function isKnownContent(value: unknown): value is string | JsonObject[] {
  const isPart = (part: unknown) => isJsonObject(part) && PART_TYPES.has(part.type)
  return typeof value === 'string' || (Array.isArray(value) && value.every(isPart))
}

function translatePart(part: JsonObject, param: string): ChatPart {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    // `text` is chat's name of the type. Clients mix the two up, and OpenAI accepts it.
    case 'text':
      return { type: 'text', text: readString(part.text, `${param}.text`) }
    case 'input_image':
    // `computer_screenshot` is the result of a computer call.
    case 'computer_screenshot':
      return translateImage(part, param)
    case 'input_file':
      return translateFile(part, param)
    case 'input_audio':
      return { type: 'input_audio', input_audio: readObject(part.input_audio, `${param}.input_audio`) }
    default:
      throw invalidRequestError(
        `${param}.type must be one of: input_text, input_image, input_file, input_audio.`,
        `${param}.type`,
      )
  }
}

function translateImage(part: JsonObject, param: string): ChatPart {
  if (readOptional(part, 'file_id') !== undefined) {
    throw createUntranslatableError(`${param}.file_id`, 'send the image itself, as a data URL.')
  }
  const detail = readOptional(part, 'detail')
  const url = readString(part.image_url, `${param}.image_url`)
  return {
    type: 'image_url',
    image_url: { url, ...(detail === undefined ? {} : { detail: translateDetail(detail, `${param}.detail`) }) },
  }
}

/** Translates the detail. Chat has no `original`; `high` is the nearest. */
function translateDetail(detail: unknown, param: string): string {
  const value = readString(detail, param)
  return value === 'original' ? 'high' : value
}

function translateFile(part: JsonObject, param: string): ChatPart {
  const name = readOptional(part, 'filename')
  const filenameField = name === undefined ? {} : { filename: readString(name, `${param}.filename`) }
  const id = readOptional(part, 'file_id')
  if (id !== undefined) return { type: 'file', file: { file_id: readString(id, `${param}.file_id`), ...filenameField } }
  const url = readOptional(part, 'file_url')
  const field = url === undefined ? 'file_data' : 'file_url'
  return { type: 'file', file: { file_data: readString(part[field], `${param}.${field}`), ...filenameField } }
}
