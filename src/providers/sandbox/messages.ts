/** Reads and checks a chat request's messages, and finds those to which the sandbox responds. */

import { invalidRequestError } from '../../errors/errors.ts'
import { isJsonObject, type JsonObject } from '../../formats/json/canonical.ts'
import { readArray, readEnum, readObject, readString } from '../../formats/json/read-fields.ts'
import type { SandboxRequest } from './fields.ts'

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function'] as const
const PARTS = ['text', 'refusal', 'image_url', 'input_audio', 'file'] as const

/** Returns at least one message. Throws a 400 for the first message that OpenAI would reject. */
export function readMessages(request: SandboxRequest): JsonObject[] {
  const messages = readArray(request.messages, 'messages')
  if (messages.length > 0) return messages.map(readMessage)
  throw invalidRequestError('messages must contain at least one message.', 'messages')
}

/** Returns a message's text: its string, or its text parts joined by line breaks. */
export function textOfMessage(message: JsonObject | undefined): string {
  const content = message?.content
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  const texts = content.map(part => (isJsonObject(part) ? (part.text ?? part.refusal) : part))
  return texts.filter(text => typeof text === 'string').join('\n')
}

/**
 * Returns the tool results after the last assistant message. The sandbox responds to them even when a user message follows, as it does when the
 * results contain images.
 */
export function trailingToolResults(messages: readonly JsonObject[]): JsonObject[] {
  const turn = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1)
  return turn.filter(({ role }) => role === 'tool' || role === 'function')
}

function readMessage(value: unknown, index: number): JsonObject {
  const param = `messages[${index}]`
  const message = readObject(value, param)
  const role = readEnum(message.role, `${param}.role`, ROLES)
  // An assistant that called tools has no content; a legacy function's result may be empty.
  const mayBeEmpty = role === 'assistant' || role === 'function'
  if (!mayBeEmpty || (message.content ?? null) !== null) checkContent(message.content, `${param}.content`)
  if (role === 'tool') readString(message.tool_call_id, `${param}.tool_call_id`)
  return message
}

function checkContent(content: unknown, param: string): void {
  if (typeof content === 'string') return
  if (!Array.isArray(content)) throw invalidRequestError(`${param} must be a string or an array of parts.`, param)
  for (const [index, item] of content.entries()) {
    const partParam = `${param}[${index}]`
    const part = isJsonObject(item) ? item : {}
    const type = readEnum(part.type, `${partParam}.type`, PARTS)
    const read = type === 'text' || type === 'refusal' ? readString : readObject
    read(part[type], `${partParam}.${type}`)
  }
}
