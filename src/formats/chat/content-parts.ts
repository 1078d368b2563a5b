/** Reads and merges message content that is a list of parts, which some vendors send instead of text, and reads the model's reasoning. */
import { asString, isBlank, isJsonObject, type JsonObject, readField } from '../json/canonical.ts'

export type ContentPart =
  | { kind: 'text'; text: string }
  | { kind: 'reasoning'; text: string }
  | { kind: 'image'; url: string }
  | { kind: 'audio'; audio: JsonObject }
  /** A part of an unknown kind. */
  | { kind: 'other'; type: string }

/** Reads content that is text or a list of parts. Omits empty parts. */
export function readContentParts(content: unknown): ContentPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }]
  if (isJsonObject(content)) return [readPart(content)]
  return Array.isArray(content) ? content.map(readPart).filter(part => !('text' in part) || part.text !== '') : []
}

/** Returns the text of the content, without its reasoning. */
export function textOfContent(content: unknown): string {
  return readContentParts(content)
    .map(part => (part.kind === 'text' ? part.text : ''))
    .join('')
}

function readPart(part: unknown): ContentPart {
  if (typeof part === 'string') return { kind: 'text', text: part }
  if (!isJsonObject(part)) return { kind: 'other', type: typeof part }
  const { type, text, thinking, reasoning, refusal, image_url: image, input_audio, audio } = part
  const thought = thinking ?? reasoning
  if (isString(thought) || Array.isArray(thought)) return { kind: 'reasoning', text: joinTexts(thought) }
  if (asString(type).startsWith('reasoning')) return { kind: 'reasoning', text: joinTexts(text ?? part.summary) }
  if (isString(text)) return { kind: 'text', text }
  if (isString(refusal)) return { kind: 'text', text: refusal }
  const url = isJsonObject(image) ? image.url : image
  if (isString(url)) return { kind: 'image', url }
  const audioContent = audio ?? input_audio
  if (isJsonObject(audioContent)) return { kind: 'audio', audio: audioContent }
  return { kind: 'other', type: asString(type) || 'unnamed' }
}

function isString(value: unknown): value is string {
  return typeof value === 'string'
}

function joinTexts(value: unknown): string {
  if (typeof value === 'string') return value
  const items = Array.isArray(value) ? value : []
  return items.map(item => (isJsonObject(item) ? asString(item.text) : asString(item))).join('')
}

/**
 * Merges streamed content if one side is a list of parts. Returns null if both are texts or one is blank. A text continues the last part of the
 * list if that is also text.
 */
export function mergeContent(existing: unknown, incoming: unknown): unknown[] | null {
  if (isBlank(incoming)) return null
  if (Array.isArray(incoming)) {
    if (Array.isArray(existing)) return incoming.reduce<unknown[]>(addPart, existing)
    return typeof existing === 'string' && existing !== ''
      ? incoming.reduce<unknown[]>(addPart, [textPart(existing)])
      : null
  }
  return typeof incoming === 'string' && Array.isArray(existing) ? addPart(existing, textPart(incoming)) : null
}

function textPart(text: string): JsonObject {
  return { type: 'text', text }
}

/** Adds a part. Merges it into the last part if both are of one kind and contain only text. */
function addPart(parts: unknown[], part: unknown): unknown[] {
  const last = parts.at(-1)
  if (isJsonObject(last) && isJsonObject(part) && isPlainText(last) && isPlainText(part))
    last.text = `${last.text}${part.text}`
  else if (isJsonObject(last) && isJsonObject(part) && isThought(last) && isThought(part))
    last.thinking = (part.thinking as unknown[]).reduce<unknown[]>(addPart, last.thinking as unknown[])
  else parts.push(part)
  return parts
}

function isPlainText(part: JsonObject): boolean {
  return part.type === 'text' && typeof part.text === 'string' && Object.keys(part).length === 2
}

function isThought(part: JsonObject): boolean {
  return part.type === 'thinking' && Array.isArray(readField(part, 'thinking')) && Object.keys(part).length <= 2
}

/** The vendors' names for the field with the reasoning. */
const REASONING_FIELDS = ['reasoning_content', 'reasoning'] as const

/** The reasoning text in a message or a delta; '' when there is none. A text that is repeated under a second name counts once. */
export function readReasoningText(message: JsonObject): string {
  for (const field of REASONING_FIELDS) {
    const text = readField(message, field)
    if (typeof text === 'string' && text !== '') return text
  }
  return ''
}
