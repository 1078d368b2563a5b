/** Reads a model's thinking blocks. They are part of the translated response, so that clients send them back with the conversation. */
import type { ContentBlock, RedactedThinkingBlock, ThinkingBlock } from '@anthropic-ai/sdk/resources/messages'

/** A thinking block as Anthropic sent it, with its index among the response's blocks. */
export type IndexedThinkingBlock = (ThinkingBlock | RedactedThinkingBlock) & { index: number }

/** Returns null for a block of another type. */
export function readThinkingBlock(block: ContentBlock, index: number): IndexedThinkingBlock | null {
  if (block.type === 'redacted_thinking') return { type: block.type, data: block.data, index }
  if (block.type !== 'thinking') return null
  return { type: block.type, thinking: block.thinking, signature: block.signature, index }
}
