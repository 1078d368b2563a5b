/** Anthropic treats a string as a list of one text block wherever it accepts blocks. */
import type { JsonObject } from './scenario.ts'

/** Returns the request with each such string replaced by a block. Other values are unchanged. */
export function normalizeContent(body: unknown): unknown {
  if (!isObject(body)) return body
  const { system, messages } = body
  return {
    ...body,
    ...(typeof system === 'string' ? { system: blocksOf(system) } : {}),
    ...(Array.isArray(messages) ? { messages: messages.map(normalizeMessageContent) } : {}),
  }
}

function normalizeMessageContent(item: unknown): unknown {
  if (!isObject(item)) return item
  const { content } = item
  if (typeof content === 'string') return { ...item, content: blocksOf(content) }
  return Array.isArray(content) ? { ...item, content: content.map(normalizeMessageContent) } : item
}

function blocksOf(text: string): JsonObject[] {
  return [{ type: 'text', text }]
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
