/** Packed provider extras in a request: omitted for a provider that would reject what it did not sign. */
import { isPacked } from './chat/carried.ts'
import { isJsonObject, type JsonObject, objectsOf } from './json/canonical.ts'

/** Whether `dropPacked` would omit anything. */
export function holdsPacked({ input, messages }: JsonObject): boolean {
  return (
    objectsOf(input).some(isPackedPart) ||
    objectsOf(messages).some(({ content }) => objectsOf(content).some(isPackedPart))
  )
}

/** The request without reasoning items and thinking blocks that were packed here. */
export function dropPacked(body: JsonObject): JsonObject {
  const { input, messages } = body
  return {
    ...body,
    ...(Array.isArray(input) && { input: input.filter(item => !isPackedPart(item)) }),
    ...(Array.isArray(messages) && { messages: messages.flatMap(dropInMessage) }),
  }
}

/** Such blocks alone are no message. */
function dropInMessage(message: unknown): unknown[] {
  if (!isJsonObject(message) || !Array.isArray(message.content)) return [message]
  const content = message.content.filter(block => !isPackedPart(block))
  if (content.length === message.content.length) return [message]
  return content.length === 0 ? [] : [{ ...message, content }]
}

function isPackedPart(part: unknown): boolean {
  if (!isJsonObject(part)) return false
  if (part.type === 'reasoning') return isPacked(part.encrypted_content)
  return part.type === 'thinking' ? isPacked(part.signature) : part.type === 'redacted_thinking' && isPacked(part.data)
}
