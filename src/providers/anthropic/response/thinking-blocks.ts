/** Keeps a model's thinking blocks in a response, so that a client that sends its messages back returns them too. */
import type { ContentBlock, RedactedThinkingBlock, ThinkingBlock } from '@anthropic-ai/sdk/resources/messages'

/** As Anthropic sent it, with its index among the response's blocks. */
export type IndexedThinkingBlock = (ThinkingBlock | RedactedThinkingBlock) & { index: number }

/** Returns null for a block of another type. */
export function readThinkingBlock(block: ContentBlock, index: number): IndexedThinkingBlock | null {
  if (block.type === 'redacted_thinking') return { type: block.type, data: block.data, index }
  if (block.type !== 'thinking') return null
  return { type: block.type, thinking: block.thinking, signature: block.signature, index }
}
