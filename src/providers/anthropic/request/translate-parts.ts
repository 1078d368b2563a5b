/** Translates a message's content, a text or a list of parts with text, images and files, into Anthropic's blocks. */
import type {
  Base64ImageSource,
  DocumentBlockParam,
  ImageBlockParam,
  TextBlockParam,
} from '@anthropic-ai/sdk/resources/messages'
import { invalidRequestError } from '../../../errors/errors.ts'
import type { JsonObject } from '../../../formats/json/canonical.ts'
import { readObject, readOptional, readString } from '../../../formats/json/read-fields.ts'
import { unsupportedFieldError } from '../field-rules.ts'
import { readCacheBreakpoint } from './cache-breakpoints.ts'

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

type ImageType = Base64ImageSource['media_type']
type DocumentSource = DocumentBlockParam['source']

const IMAGE_TYPES: readonly ImageType[] = ['image/jpeg', 'image/png', 'image/gif', 'image/webp']
/** Matches media types of text. */
const TEXT_TYPE = /^(?:text\/.+|application\/(?:json|xml|x-ndjson|yaml))$/
const HTTPS = /^https:\/\//i
const HTTP = /^http:\/\//i
/** The first bytes of each image type, as Latin-1. */
const IMAGE_BYTES: readonly [RegExp, ImageType][] = [
  [/^\x89PNG\r\n/, 'image/png'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^GIF8[79]a/, 'image/gif'],
  [/^RIFF[\s\S]{4}WEBP/, 'image/webp'],
]
const SNIFFED_CHARS = 24
/** `%PDF-` in base64. */
const PDF_BASE64 = /^JVBERi0/

/** Translates an `image_url` part. Its `detail` has no counterpart. */
function translateImage(part: JsonObject, param: string): ImageBlockParam {
  const at = `${param}.image_url`
  // OpenAI's format is an object. Some clients send only the address.
  const image = part.image_url
  const url = typeof image === 'string' ? image : readString(readObject(image, at).url, `${at}.url`)
  if (HTTPS.test(url)) return { type: 'image', source: { type: 'url', url } }
  rejectHttpUrl(url, `${at}.url`)
  const data = parseDataUrl(url)
  if (!data) throw invalidRequestError(`${at}.url must be an https address or a data URL in base64.`, `${at}.url`)
  const mediaType = findImageType(data)
  if (!mediaType) throw invalidRequestError(`${at}.url must be one of ${IMAGE_TYPES.join(', ')}.`, `${at}.url`)
  return { type: 'image', source: { type: 'base64', media_type: mediaType, data: data.base64 } }
}

/** Detects an image's type by its bytes, because clients often guess the media type from a file's name. */
function findImageType({ mediaType, base64 }: DataUrl): ImageType | undefined {
  const header = Buffer.from(base64.slice(0, SNIFFED_CHARS), 'base64').toString('latin1')
  const found = IMAGE_BYTES.find(([pattern]) => pattern.test(header))
  const declared = mediaType === 'image/jpg' ? 'image/jpeg' : mediaType
  return found?.[1] ?? IMAGE_TYPES.find(type => type === declared)
}

/** Throws a 400 for an http:// address. Anthropic fetches only https:// addresses, and the proxy fetches none. */
function rejectHttpUrl(url: string, param: string): void {
  if (!HTTP.test(url)) return
  throw invalidRequestError(
    `${param} is an http:// address, which Anthropic does not fetch; use https:// or a data URL.`,
    param,
  )
}

function translateFile(part: JsonObject, param: string): DocumentBlockParam {
  const at = `${param}.file`
  const file = readObject(part.file, at)
  const title = readOptional(file, 'filename')
  return {
    type: 'document',
    source: readSource(file, at),
    ...(title === undefined ? {} : { title: readString(title, `${at}.filename`) }),
  }
}

function readSource(file: JsonObject, param: string): DocumentSource {
  const id = readOptional(file, 'file_id')
  if (id !== undefined) return { type: 'file', file_id: readString(id, `${param}.file_id`) }
  const at = `${param}.file_data`
  const text = readString(file.file_data, at)
  if (HTTPS.test(text)) return { type: 'url', url: text }
  rejectHttpUrl(text, at)
  if (PDF_BASE64.test(text)) return { type: 'base64', media_type: 'application/pdf', data: text }
  const data = parseDataUrl(text)
  if (data?.mediaType === 'application/pdf') return { type: 'base64', media_type: data.mediaType, data: data.base64 }
  if (data && TEXT_TYPE.test(data.mediaType)) {
    return { type: 'text', media_type: 'text/plain', data: decodeText(data.base64, at) }
  }
  throw invalidRequestError(`${at} must be a PDF or text, as a data URL in base64.`, at)
}

function decodeText(base64: string, param: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.fromBase64(base64))
  } catch {
    throw invalidRequestError(`${param} must be text in UTF-8, in base64.`, param)
  }
}

interface DataUrl {
  /** The media type in lower case, without parameters. */
  mediaType: string
  base64: string
}

/** The upper bound on the header's characters. No valid header is longer. */
const MAX_HEADER_LENGTH = 256

/** Returns null for anything else, including data URLs that are not base64. */
function parseDataUrl(url: string): DataUrl | null {
  // Only the header is searched, because megabytes may follow.
  const comma = url.slice(0, MAX_HEADER_LENGTH).indexOf(',')
  const header = /^data:([^;,]*)(?:;[^;,]+)*;base64$/i.exec(url.slice(0, Math.max(0, comma)))
  return header ? { mediaType: (header[1] ?? '').toLowerCase(), base64: url.slice(comma + 1) } : null
}
