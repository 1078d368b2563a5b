/** What earlier answers carried, packed, in a request: taken out for a provider that would refuse what it did not sign, or written out to be read. */
import { isPacked, PACKED, unpackCarried } from './chat/carried.ts'
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

/** The same value with the JSON of what was packed in place of each packed text. */
export function writeOut(value: unknown): unknown {
  if (typeof value === 'string') {
    const carried = isPacked(value) ? unpackCarried(value, null) : null
    return carried ? JSON.stringify(carried) : value
  }
  if (Array.isArray(value)) return value.map(writeOut)
  return isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, writeOut(each)]))
    : value
}
