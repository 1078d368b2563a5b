/** Takes out of a request what earlier answers carried, packed, for a provider with that API of its own: it would refuse what it did not sign. */
import { isPacked, PACKED } from './chat/carried.ts'
import { isJsonObject, type JsonObject } from './json/canonical.ts'

/** A quick search in a body's JSON settles nearly all requests. */
export const MAY_BE_PACKED = `"${PACKED}`

/** The request without reasoning items and thinking blocks that were packed here. */
export function dropPacked(body: JsonObject): JsonObject {
  const { input, messages } = body
  return {
    ...body,
    ...(Array.isArray(input) && { input: input.filter(item => !holdsPacked(item)) }),
    ...(Array.isArray(messages) && { messages: messages.flatMap(dropInMessage) }),
  }
}

/** Such blocks alone are no message. */
function dropInMessage(message: unknown): unknown[] {
  if (!isJsonObject(message) || !Array.isArray(message.content)) return [message]
  const content = message.content.filter(block => !holdsPacked(block))
  if (content.length === message.content.length) return [message]
  return content.length === 0 ? [] : [{ ...message, content }]
}

function holdsPacked(part: unknown): boolean {
  if (!isJsonObject(part)) return false
  if (part.type === 'reasoning') return isPacked(part.encrypted_content)
  return part.type === 'thinking' ? isPacked(part.signature) : part.type === 'redacted_thinking' && isPacked(part.data)
}
