/** Omits packed provider extras from a request to a provider that would reject extras it did not sign. */
import { isPackedProviderExtras } from './chat/provider-extras.ts'
import { asObjects, isJsonObject, type JsonObject } from './json/canonical.ts'

/** Whether `omitPackedExtrasJob` would omit anything. */
export function hasPackedExtras({ input, messages }: JsonObject): boolean {
  return (
    asObjects(input).some(isPackedPart) ||
    asObjects(messages).some(({ content }) => asObjects(content).some(isPackedPart))
  )
}

/** Returns the request without reasoning items and thinking blocks that contain packed extras. */
export function omitPackedExtras(body: JsonObject): JsonObject {
  const { input, messages } = body
  return {
    ...body,
    ...(Array.isArray(input) && { input: input.filter(item => !isPackedPart(item)) }),
    ...(Array.isArray(messages) && { messages: messages.flatMap(omitFromMessage) }),
  }
}

/** Omits packed blocks from a message. A message without other blocks is omitted. */
function omitFromMessage(message: unknown): unknown[] {
  if (!isJsonObject(message) || !Array.isArray(message.content)) return [message]
  const content = message.content.filter(block => !isPackedPart(block))
  if (content.length === message.content.length) return [message]
  return content.length === 0 ? [] : [{ ...message, content }]
}

function isPackedPart(part: unknown): boolean {
  if (!isJsonObject(part)) return false
  if (part.type === 'reasoning') return isPackedProviderExtras(part.encrypted_content)
  return part.type === 'thinking'
    ? isPackedProviderExtras(part.signature)
    : part.type === 'redacted_thinking' && isPackedProviderExtras(part.data)
}
