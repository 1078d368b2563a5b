/** Reads a chat request's messages: checks them, and finds the one that the sandbox answers. */

import { invalidRequest } from '../../errors/errors.ts'
import { isJsonObject, type JsonObject, textOf } from '../../formats/json/canonical.ts'
import { readGiven } from '../../formats/json/read-fields.ts'
import type { Request } from './fields.ts'

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function']
const PARTS = ['text', 'refusal', 'image_url', 'input_audio', 'file']

/** Returns at least one message; throws a 400 for the first that OpenAI would refuse. */
export function readMessages(request: Request): JsonObject[] {
  const messages = readGiven(request, 'messages')
  if (messages === undefined) throw invalidRequest("Missing required parameter: 'messages'.", 'messages')
  if (!Array.isArray(messages))
    throw invalidRequest("Invalid type for 'messages': expected an array of objects.", 'messages')
  if (messages.length === 0) throw invalidRequest("Invalid 'messages': expected at least one message.", 'messages')
  return messages.map(readMessage)
}

/** A message's text: its string, or its text parts. */
export function textOfMessage(message: JsonObject | undefined): string {
  const content = message?.content
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  const texts = content.map(part => (isJsonObject(part) ? (part.text ?? part.refusal) : part))
  return texts.filter(text => typeof text === 'string').join('\n')
}

function readMessage(message: unknown, index: number): JsonObject {
  const place = `messages[${index}]`
  if (!isJsonObject(message)) throw invalidRequest(`Invalid type for '${place}': expected an object.`, place)
  if (!ROLES.some(role => role === message.role)) {
    throw invalidRequest(`Invalid value for '${place}.role': expected one of ${ROLES.join(', ')}.`, `${place}.role`)
  }
  checkContent(message, place)
  if (message.role === 'tool' && typeof message.tool_call_id !== 'string') {
    throw invalidRequest(`Missing required parameter: '${place}.tool_call_id'.`, `${place}.tool_call_id`)
  }
  return message
}

function checkContent({ role, content }: JsonObject, place: string): void {
  const param = `${place}.content`
  // An assistant that called tools has no content; a legacy function's result may be empty.
  if ((content ?? null) === null && (role === 'assistant' || role === 'function')) return
  if (typeof content === 'string') return
  if (!Array.isArray(content)) {
    throw invalidRequest(`Invalid type for '${param}': expected a string or an array of content parts.`, param)
  }
  for (const [index, part] of content.entries()) checkPart(part, `${param}[${index}]`)
}

function checkPart(part: unknown, place: string): void {
  const type = isJsonObject(part) ? part.type : undefined
  if (!isJsonObject(part) || !PARTS.some(known => known === type)) {
    throw invalidRequest(`Invalid value for '${place}.type': expected one of ${PARTS.join(', ')}.`, `${place}.type`)
  }
  const field = textOf(type)
  const value = part[field]
  const isRight = field === 'text' || field === 'refusal' ? typeof value === 'string' : isJsonObject(value)
  if (!isRight) throw invalidRequest(`Missing or invalid parameter: '${place}.${field}'.`, `${place}.${field}`)
}
