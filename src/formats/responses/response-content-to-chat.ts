/** Translates the content of Responses items, texts and parts, to parts of chat messages. */

import { invalidRequestError } from '../../errors/errors.ts'
import type { ChatPart } from '../chat/chat-message-builder.ts'
import { isJsonObject, type JsonObject } from '../json/canonical.ts'
import { pickPresent, readObject, readOptional, readString } from '../json/read-fields.ts'
import { setSourcePath } from '../source-paths.ts'
import { createUntranslatableError } from './response-fields.ts'

/** Marks that ask the vendor to cache the prompt up to this part. */
const MARKS = ['prompt_cache_breakpoint', 'cache_control']

/** `content` is one text or a list of parts. Returns an empty list when it is absent. */
export function translateContent(content: unknown, param: string): ChatPart[] {
  if (content === undefined || content === null) return []
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (!Array.isArray(content)) throw invalidRequestError(`${param} must be a string or an array of parts.`, param)
  return content.map((item, index) => {
    const at = `${param}[${index}]`
    const part = readObject(item, at)
    return setSourcePath({ ...translatePart(part, at), ...pickPresent(part, MARKS) }, at)
  })
}

const PART_TYPES: ReadonlySet<unknown> = new Set(
  'input_text output_text text input_image computer_screenshot input_file input_audio'.split(' '),
)

/** Whether a value is text or a list of parts, of which none is unknown. */
export function isKnownContent(value: unknown): value is string | JsonObject[] {
  const isPart = (part: unknown) => isJsonObject(part) && PART_TYPES.has(part.type)
  return typeof value === 'string' || (Array.isArray(value) && value.every(isPart))
}

function translatePart(part: JsonObject, param: string): ChatPart {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    // Chat's name of the type. Clients mix the two up, and OpenAI accepts it.
    case 'text':
      return { type: 'text', text: readString(part.text, `${param}.text`) }
    case 'input_image':
    // What a computer's screen showed after a call.
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

/** Chat has no `original`: `high` is the nearest. */
function translateDetail(detail: unknown, param: string): string {
  const asked = readString(detail, param)
  return asked === 'original' ? 'high' : asked
}

function translateFile(part: JsonObject, param: string): ChatPart {
  const name = readOptional(part, 'filename')
  const titled = name === undefined ? {} : { filename: readString(name, `${param}.filename`) }
  const id = readOptional(part, 'file_id')
  if (id !== undefined) return { type: 'file', file: { file_id: readString(id, `${param}.file_id`), ...titled } }
  const url = readOptional(part, 'file_url')
  const field = url === undefined ? 'file_data' : 'file_url'
  return { type: 'file', file: { file_data: readString(part[field], `${param}.${field}`), ...titled } }
}
