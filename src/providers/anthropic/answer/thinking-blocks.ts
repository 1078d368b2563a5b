/** A model's thoughts as an answer bears them, so that a client that sends its messages back sends them too. */
import type { ContentBlock, RedactedThinkingBlock, ThinkingBlock } from '@anthropic-ai/sdk/resources/messages'

/** As Anthropic sent it, with its place among the answer's blocks. */
export type KeptThought = (ThinkingBlock | RedactedThinkingBlock) & { index: number }

/** Null for a block that is no thought. */
export function keepThought(block: ContentBlock, index: number): KeptThought | null {
  if (block.type === 'redacted_thinking') return { type: block.type, data: block.data, index }
  if (block.type !== 'thinking') return null
  return { type: block.type, thinking: block.thinking, signature: block.signature, index }
}
